import { Entity } from 'typeorm';
import { Col } from '../../kernel/persistence/columns';

/** A worker process that lives or may hold leases. Its session holds the advisory lock of its id. */
@Entity('workers')
export class RegisteredWorker {
  @Col.identity('pk_workers') worker_id: number;
  @Col.text() hostname: string;
  @Col.int() pid: number;
  @Col.time({ default: () => 'platform_now()' }) started_at: Date;
  /** Time at which its session was found to have ended; null while it has one. */
  @Col.time({ nullable: true }) suspected_at: Date | null;
}
