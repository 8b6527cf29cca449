import { createHash } from 'node:crypto';
import { ComputeDriverError } from '../compute-driver';
import type { Place } from '../place';

const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** A project id, which has the domain of an organization as a prefix in old projects, or a project number. */
const PROJECT = /^(([a-z0-9][a-z0-9.-]{0,61}:)?[a-z][a-z0-9-]{2,61}[a-z0-9]|[1-9]\d{0,18})$/;

export function invalidInput(code: string, message: string): ComputeDriverError {
  return new ComputeDriverError(`GOOGLE.${code}`, message, { kind: 'invalid' });
}

/** Returns the prefix of the names of all machines of the node. */
export function nodeName(nodeToken: string): string {
  const readable = `node-${nodeToken}`;
  if (NAME.test(readable) && readable.length <= 48) return readable;
  return `node-${createHash('sha256').update(nodeToken).digest('hex').slice(0, 40)}`;
}

/** Returns the machine's name (RFC 1035, at most 63 characters), which is unique in its project and zone. */
export function machineName(nodeToken: string, attempt: number): string {
  return `${nodeName(nodeToken)}-${attempt}`;
}

/** Returns the id by which Google recognizes a repeated request: a UUID of version 8 (RFC 9562). */
export function requestId(nodeToken: string, attempt: number): string {
  const hex = createHash('sha256').update(`${nodeToken}\n${attempt}\ninsert`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

export function isProject(text: string): boolean {
  return PROJECT.test(text);
}

export function projectOf({ account }: Place): string {
  return validName(account, PROJECT, 'The project');
}

export function zoneOf({ zone }: Place): string {
  return validName(zone, NAME, 'The zone');
}

/** Returns the URLs of a machine's network and subnet, which another project may share. */
export function networkOf(place: Place): { network?: string; subnetwork?: string } {
  const { networkAccount, network, subnet, region } = place;
  const host = `projects/${networkAccount === null ? projectOf(place) : validName(networkAccount, PROJECT, "The network's project")}`;
  const found: { network?: string; subnetwork?: string } = {};
  if (network !== null) found.network = `${host}/global/networks/${validName(network, NAME, 'The network')}`;
  if (subnet === null) return found;
  const where = `${host}/regions/${validName(region, NAME, 'The region')}`;
  found.subnetwork = `${where}/subnetworks/${validName(subnet, NAME, 'The subnet')}`;
  return found;
}

const IMAGE =
  /^(?:https:\/\/(?:www|compute)\.googleapis\.com\/compute\/v1\/)?(?:projects\/([^/]+)\/)?(?:global\/images\/)?(family\/)?([^/]+)$/;

/** Normalizes an image name to `projects/x/global/images/y` or `…/images/family/y`. The project of the machine is the default. */
export function imageOf(image: string, place: Place): string {
  const [, project, family = '', name] = IMAGE.exec(image) ?? [];
  if (name === undefined || !NAME.test(name))
    throw invalidInput(
      'IMAGE_INVALID',
      'The image must be named like projects/<project>/global/images/<image> or projects/<project>/global/images/family/<family>.',
    );
  const owner = project === undefined ? projectOf(place) : validName(project, PROJECT, "The image's project");
  return `projects/${owner}/global/images/${family}${name}`;
}

export function machineTypeOf(type: string, zone: string): string {
  return `zones/${zone}/machineTypes/${validName(type, NAME, 'The machine type')}`;
}

export function diskTypeOf(type: string, zone: string): string {
  return `zones/${zone}/diskTypes/${validName(type, NAME, 'The disk type')}`;
}

function validName(name: string | null, form: RegExp, what: string): string {
  if (name !== null && form.test(name)) return name;
  throw invalidInput(
    'NAME_INVALID',
    name === null ? `${what} of the node is missing.` : `${what} of the node is not a name that Google Cloud accepts.`,
  );
}
