import { declarePart } from './together';

declarePart(7);
