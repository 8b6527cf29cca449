import { declarePart } from './together';

declarePart(6);
