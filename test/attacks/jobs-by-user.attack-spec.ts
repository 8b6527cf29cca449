import { describeConfinedJobs } from './harness/confined-jobs';

describeConfinedJobs();
