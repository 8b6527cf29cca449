import {
  type BootFailureRequest,
  type DaemonsState,
  MAX_LOAD,
  type NodeInterruption,
  type NodeLoad,
  MAX_UTILIZATION,
  type NodeUtilization,
  type PollRequest,
  type ReportRequest,
  type RequestsQuery,
  type RunOutcome,
  type RunReason,
  type RunState,
  type UtilizationSample,
} from '../../../../../libs/contracts/agent-protocol';
import { IgnoresUnknownFields } from '../../../../platform/kernel/dto/field-shapes';
import { Field, Param } from '../../../../platform/kernel/dto/fields';

const APPLICATION_ID = /^[\w.-]{1,200}$/;
const REASON_CODE = /^[A-Z][A-Z0-9_]{0,63}$/;
const MASTER_URL = /^spark:\/\/[\x21-\x7e]{1,300}$/;
const MOMENT = /^[\x21-\x7e]{1,100}$/;

// Agents may be newer than this process (see libs/contracts/agent-protocol.ts), so unknown fields are ignored.
@IgnoresUnknownFields()
export class Register {
  @Field.text({ pattern: /^[\x20-\x7e]{1,200}$/, meaning: '1 to 200 printable ASCII characters' }) agent_id: string;
  @Field.reportedText({ maxLength: 300 }) hostname: string;
  @Field.int64() pid: number;
}

@IgnoresUnknownFields()
export class BootFailure implements BootFailureRequest {
  @Field.reportedText() error: string;
}

const UTILIZATION = { min: 0, max: MAX_UTILIZATION };

@IgnoresUnknownFields()
export class UtilizationSampleBody implements UtilizationSample {
  @Field.int32(UTILIZATION) average: number;
  @Field.int32(UTILIZATION) max: number;
}

@IgnoresUnknownFields()
export class DiskSampleBody extends UtilizationSampleBody {
  @Field.int32(UTILIZATION) total: number;
}

@IgnoresUnknownFields()
export class UtilizationBody implements NodeUtilization {
  @Field.object(() => UtilizationSampleBody) millicores: UtilizationSampleBody;
  @Field.object(() => UtilizationSampleBody) memory_mb: UtilizationSampleBody;
  @Field.object(() => DiskSampleBody) disk_mb: DiskSampleBody;
}

@IgnoresUnknownFields()
export class Poll implements PollRequest {
  @Field.int64({ min: 0 }) version: number;
  @Field.int32({ min: 0, max: 30_000 }) wait_ms: number;
  @Field.object(() => UtilizationBody, { optional: true }) utilization?: UtilizationBody;
}

@IgnoresUnknownFields()
export class DaemonsReport {
  @Field.oneOf(['starting', 'ready', 'failed']) state: DaemonsState;
  @Field.reportedCode(MASTER_URL) master_url: string | null;
  @Field.reportedText({ nullable: true }) error: string | null;
}

@IgnoresUnknownFields()
export class RunReportBody {
  @Field.text({ pattern: /^\d{1,15}$/, meaning: 'a run id' }) run_id: string;
  @Field.int64({ min: 1 }) seq: number;
  @Field.oneOf(['accepted', 'running', 'stopping', 'killing', 'ended']) state: RunState;
  @Field.reportedCode(APPLICATION_ID) application_id: string | null;
  @Field.oneOf(['done', 'error', 'terminated', 'stopped', 'killed'], { nullable: true }) outcome: RunOutcome | null;
  @Field.reportedCode(REASON_CODE) reason: RunReason | null;
  @Field.reportedText({ nullable: true }) message: string | null;
  @Field.int32({ nullable: true }) exit_code: number | null;
  @Field.int64({ nullable: true }) pid: number | null;
  @Field.reportedText({ maxLength: 100 }) at: string;
  @Field.boolean({ optional: true }) started_warm?: boolean;
  @Field.reportedText({ maxLength: 300, optional: true }) cold_reason?: string;
  @Field.int32({ min: 0, max: MAX_UTILIZATION, optional: true }) requested_memory_mb?: number;
  @Field.int32({ min: 0, max: MAX_UTILIZATION, optional: true }) peak_memory_mb?: number;
}

@IgnoresUnknownFields()
export class LoadReport implements NodeLoad {
  @Field.int32({ min: 0, max: MAX_LOAD }) pending_cores: number;
  @Field.int32({ min: 0, max: MAX_LOAD }) used_cores: number;
  @Field.int32({ min: 0, max: MAX_LOAD }) executors: number;
}

@IgnoresUnknownFields()
export class InterruptionReport implements NodeInterruption {
  @Field.reportedText() detail: string;
  @Field.reportedCode(MOMENT) ends_at: string | null;
}

@IgnoresUnknownFields()
export class Report implements ReportRequest {
  @Field.object(() => DaemonsReport) daemons: DaemonsReport;
  @Field.objects(() => RunReportBody) runs: RunReportBody[];
  @Field.object(() => LoadReport, { optional: true }) load?: LoadReport;
  @Field.boolean({ optional: true }) drained?: boolean;
  @Field.object(() => InterruptionReport, { optional: true }) interruption?: InterruptionReport;
  @Field.int32({ optional: true, min: 0, max: MAX_LOAD }) warm_drivers?: number;
}

@IgnoresUnknownFields()
export class LogOffset {
  @Param.int64({ optional: false, min: 0 }) offset: number;
}

@IgnoresUnknownFields()
export class FileKey {
  @Param.text({ maxLength: 64 }) key?: string;
}

@IgnoresUnknownFields()
export class Requests implements RequestsQuery {
  @Param.int64({ optional: false, min: 0 }) after: number;
  @Param.int32({ optional: false, min: 0, max: 30_000 }) wait_ms: number;
}
