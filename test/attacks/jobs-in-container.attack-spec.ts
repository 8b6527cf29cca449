import { describeConfinedJobsOfRoot } from './harness/confined-jobs';
import { containerRoot } from './harness/users';

describeConfinedJobsOfRoot('in a container', 'A user for each job', containerRoot);
