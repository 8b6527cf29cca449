import { describeConfinedJobsOfRoot } from './harness/confined-jobs';

describeConfinedJobsOfRoot('by root', { warm: true });
