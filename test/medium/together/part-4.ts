import { declarePart } from './together';

declarePart(4);
