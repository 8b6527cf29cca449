import { declarePart } from './together';

declarePart(8);
