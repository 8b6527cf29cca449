import { declarePart } from './together';

declarePart(1);
