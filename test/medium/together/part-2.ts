import { declarePart } from './together';

declarePart(2);
