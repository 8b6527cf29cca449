import { describeConfinedJobs } from './harness/confined-jobs';
import { ordinaryUser } from './harness/users';

describeConfinedJobs('by an ordinary user', 'Namespaces for each job', (runtime) => ({ user: ordinaryUser(runtime) }));
