import { describeConfinedJobsOfRoot } from './harness/confined-jobs';

describeConfinedJobsOfRoot('in a container');
