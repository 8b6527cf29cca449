import { readUntrusted, SHORT_JSON } from '../../json/parse-json';
import { ComputeDriverError, type NodeSpec, type OwnershipLabels } from '../compute-driver';
import { machineLabels, ownerOf } from '../cloud-driver';

/** Data that the driver keeps in the description of a machine: its owner, and how to finish its provisioning. */
export interface MachineNote {
  owner: OwnershipLabels & { attempt: number };
  createdAt: Date;
  /** Options to set besides those of the template. */
  plan: Readonly<Record<string, string>>;
  /** True once the machine was seen running. If it is stopped after that, somebody stopped it. */
  isProvisioned: boolean;
}

const [BEGIN, END] = ['<!-- platform: do not edit', '-->'];
/** Proxmox VE limits a description to 8 kB. */
const MAX_NOTE_LENGTH = 7000;
/** Options that a plan may have. A user who can edit a description cannot make the platform set others. */
const OPTION = /^(cores|memory|agent|net0|ide2|scsi([1-9]|[12]\d))$/;

export function newNote(spec: NodeSpec, plan: MachineNote['plan']): string {
  const note = { labels: machineLabels(spec), created: new Date().toISOString(), plan, made: false };
  const text = block(note);
  if (text.length > MAX_NOTE_LENGTH)
    throw new ComputeDriverError(
      'PROXMOX.LABELS_TOO_LONG',
      'The labels of the cluster are too long for the description of a machine in Proxmox VE. Remove or shorten some labels.',
      {
        kind: 'invalid',
      },
    );
  return text;
}

/** Reads the note from a description, which users may have edited; null if it has none, or an invalid one. */
export function parseNote(description: unknown): MachineNote | null {
  const json = noteJson(description);
  if (json === null) return null;
  const { labels, created, plan, made } = json;
  if (!isTexts(labels) || !isTexts(plan) || typeof created !== 'string' || typeof made !== 'boolean') return null;
  if (!Object.entries(plan).every(([key, value]) => OPTION.test(key) && /^[\x21-\x7e]{1,200}$/.test(value)))
    return null;
  const [owner, createdAt] = [ownerOf(labels), new Date(created)];
  return owner === null || Number.isNaN(createdAt.getTime()) ? null : { owner, createdAt, plan, isProvisioned: made };
}

/** Returns the description with the note marked as provisioned. Text of users stays. */
export function withProvisionedMark(description: string): string {
  const json = noteJson(description);
  const [head, rest] = [
    description.slice(0, description.indexOf(BEGIN)),
    description.slice(description.indexOf(BEGIN)),
  ];
  return head + block({ ...json, made: true }) + rest.slice(rest.indexOf(END) + END.length);
}

/** Escapes `>`, which would end the HTML comment. */
function block(note: object): string {
  return `${BEGIN}\n${JSON.stringify(note).replaceAll('>', '\\u003e')}\n${END}`;
}

function noteJson(description: unknown): Record<string, unknown> | null {
  if (typeof description !== 'string' || description.length > SHORT_JSON.bytes) return null;
  const [, rest, ...others] = description.split(BEGIN);
  // Two notes come from a copy or a forgery, so neither counts.
  if (rest === undefined || others.length > 0 || !rest.includes(END)) return null;
  const json = readUntrusted(rest.slice(0, rest.indexOf(END)), SHORT_JSON);
  return typeof json === 'object' && json !== null ? { ...json } : null;
}

function isTexts(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((one) => typeof one === 'string');
}
