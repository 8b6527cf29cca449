import { declarePart } from './together';

declarePart(5);
