import { describeConfinedJobsOfRoot } from './harness/confined-jobs';

describeConfinedJobsOfRoot('by root', 'A user and namespaces for each job', () => ({}));
