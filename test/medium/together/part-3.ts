import { declarePart } from './together';

declarePart(3);
