// @ts-check
/**
 * Holds the keys of one Kerberos identity and runs GSSAPI for it with the system's libgssapi_krb5 (MIT Kerberos 1.11 or
 * later). It is a separate process because that library reads KRB5_CONFIG from the environment, blocks while it waits for a
 * KDC, and is written in C: a hostile KDC that corrupts it reaches only this process and this identity.
 *
 * Messages are GssRequest and GssResponse of gss-messages.ts, one response for each request, in order.
 */
const koffi = require('koffi');

/** @typedef {import('./gss-messages').GssRequest} GssRequest */
/** @typedef {import('./gss-messages').GssResponse} GssResponse */

const COMPLETE = 0;
const CONTINUE_NEEDED = 1;
const INITIATE = 1;
const [GSS_CODE, MECHANISM_CODE] = [1, 2];
/** Mutual authentication, detection of replayed and reordered messages, confidentiality, integrity. */
const FLAGS = 2 | 4 | 8 | 16 | 32;
/** The bits of a routine error, 16 to 23. */
const ROUTINE_ERROR = 0xff0000;
/** Maximum number of lines of one status. */
const MAX_LINES = 4;
/** Limit of a token or message; valid ones are much shorter. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

const Buf = koffi.struct('gss_buffer_desc', { length: 'size_t', value: 'void *' });
const Oid = koffi.struct('gss_OID_desc', { length: 'uint32_t', elements: 'void *' });
const Pair = koffi.struct('gss_key_value_element_desc', { key: 'const char *', value: 'const char *' });
koffi.struct('gss_key_value_set_desc', { count: 'uint32_t', elements: koffi.pointer(Pair) });

const gss = load();

/** 1.2.840.113554.1.2.2 */
const KRB5 = oid([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02]);
/** 1.2.840.113554.1.2.2.1: a principal with its realm, used unchanged */
const PRINCIPAL = oid([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02, 0x01]);

/** Contexts by the parent's number. @type {Map<number, {context: unknown[], target: unknown[], credentials: unknown[]}>} */
const contexts = new Map();

process.on('message', (message) => {
  const request = /** @type {GssRequest} */ (message);
  /** @type {GssResponse} */
  let answer;
  try {
    answer = perform(request);
  } catch (error) {
    answer = { error: error instanceof Error ? error.message : String(error) };
  }
  process.send?.(answer);
});
// The parent has exited.
process.on('disconnect', () => process.exit(0));

/** @param {GssRequest} request @returns {GssResponse} */
function perform(request) {
  switch (request.step) {
    case 'begin':
      return begin(request);
    case 'continue':
      return proceed(request.context, request.token);
    case 'wrap':
      return { token: wrapped(request.context, request.token, request.confidential) };
    case 'unwrap':
      return { token: unwrapped(request.context, request.token) };
    case 'end':
      end(request.context);
      return {};
  }
}

/** @param {Extract<GssRequest, {step: 'begin'}>} request */
function begin({ context, principal, keytab, cache, target }) {
  const handles = { context: [null], target: [null], credentials: [null] };
  contexts.set(context, handles);
  handles.target = name(target);
  const wanted = name(principal);
  const store = {
    count: 2,
    elements: [
      { key: 'client_keytab', value: keytab },
      { key: 'ccache', value: cache },
    ],
  };
  try {
    const minor = [0];
    const status = gss.acquire(minor, wanted[0], 0, null, INITIATE, store, handles.credentials, null, null);
    assertDone(status, minor);
  } finally {
    gss.releaseName([0], wanted);
  }
  return proceed(context, null);
}

/** @param {number} number @param {Uint8Array | null} token from the server */
function proceed(number, token) {
  const { context, target, credentials } = known(number);
  const [minor, output] = [[0], [{ length: 0, value: null }]];
  const input = token && buffer(token);
  const status = gss.initiate(
    ...[minor, credentials[0], context, target[0], KRB5, FLAGS, 0, null, input, null, output, null, null],
  );
  const next = take(output);
  assertDone(status, minor);
  return { token: next, complete: (status & CONTINUE_NEEDED) === 0 };
}

/** @param {number} number @param {Uint8Array} message @param {boolean} confidential */
function wrapped(number, message, confidential) {
  const [minor, output] = [[0], [{ length: 0, value: null }]];
  const state = [0];
  const status = gss.wrap(minor, known(number).context[0], Number(confidential), 0, buffer(message), state, output);
  const sealed = take(output);
  assertDone(status, minor);
  if (confidential && !state[0]) throw new Error('The context cannot encrypt.');
  return sealed;
}

/** @param {number} number @param {Uint8Array} message */
function unwrapped(number, message) {
  const [minor, output] = [[0], [{ length: 0, value: null }]];
  const status = gss.unwrap(minor, known(number).context[0], buffer(message), output, null, null);
  const opened = take(output);
  assertDone(status, minor);
  return opened;
}

/** @param {number} number */
function end(number) {
  const handles = contexts.get(number);
  if (!handles) return;
  contexts.delete(number);
  if (handles.context[0]) gss.deleteContext([0], handles.context, null);
  if (handles.target[0]) gss.releaseName([0], handles.target);
  if (handles.credentials[0]) gss.releaseCredentials([0], handles.credentials);
}

/** @param {number} number */
function known(number) {
  const handles = contexts.get(number);
  if (!handles) throw new Error('The context does not exist.');
  return handles;
}

/** @param {string} principal */
function name(principal) {
  const [minor, handle] = [[0], [null]];
  assertDone(gss.importName(minor, buffer(Buffer.from(principal)), PRINCIPAL, handle), minor);
  return handle;
}

/** @param {number} status @param {number[]} minor */
function assertDone(status, minor) {
  if ((status & ~CONTINUE_NEEDED) === COMPLETE) return;
  // Other bits are informational, such as an accepted replay.
  if ((status & ROUTINE_ERROR) === 0 && status >>> 24 === 0) return;
  const words = [...textOf(minor[0] ?? 0, MECHANISM_CODE), ...textOf(status, GSS_CODE)];
  throw new Error(words[0] ?? `GSSAPI fails with status ${status}`);
}

/** @param {number} code @param {number} kind */
function textOf(code, kind) {
  const lines = [];
  const more = [0];
  for (let line = 0; code !== 0 && line < MAX_LINES; line += 1) {
    const text = [{ length: 0, value: null }];
    if (gss.displayStatus([0], code, kind, KRB5, more, text) !== COMPLETE) break;
    lines.push(take(text).toString('utf8'));
    if (more[0] === 0) break;
  }
  return lines.filter((text) => text !== '');
}

/** @param {Uint8Array} bytes */
function buffer(bytes) {
  return { length: bytes.length, value: bytes };
}

/** Copies a buffer of the library and releases it. @param {{length: number | bigint, value: unknown}[]} output */
function take(output) {
  const length = Number(output[0]?.length ?? 0);
  if (length > MAX_MESSAGE_BYTES) throw new Error('GSSAPI produced a message that is too long.');
  const bytes =
    length === 0
      ? Buffer.alloc(0)
      : Buffer.from(koffi.decode(output[0]?.value, koffi.array('uint8_t', length, 'Typed')));
  gss.releaseBuffer([0], output);
  return bytes;
}

/** @param {number[]} bytes */
function oid(bytes) {
  return { length: bytes.length, elements: Buffer.from(bytes) };
}

function load() {
  const library = koffi.load('libgssapi_krb5.so.2');
  const [buf, oidType] = [koffi.pointer(Buf), koffi.pointer(Oid)];
  const [out, inOut] = [koffi.out, koffi.inout];
  const number = out(koffi.pointer('uint32_t'));
  const handle = koffi.pointer('void *');
  /** @param {string} symbol @param {Parameters<import('koffi').LibraryHandle['func']>[3]} types */
  const call = (symbol, ...types) => library.func(symbol, 'uint32_t', types);
  return {
    importName: call('gss_import_name', number, buf, oidType, out(handle)),
    acquire: call(
      'gss_acquire_cred_from',
      ...[number, 'void *', 'uint32_t', 'void *', 'int', koffi.pointer('gss_key_value_set_desc'), out(handle)],
      ...['void *', 'void *'],
    ),
    initiate: call(
      'gss_init_sec_context',
      ...[
        number,
        'void *',
        inOut(handle),
        'void *',
        oidType,
        'uint32_t',
        'uint32_t',
        'void *',
        buf,
        'void *',
        out(buf),
      ],
      ...['void *', 'void *'],
    ),
    wrap: call('gss_wrap', ...[number, 'void *', 'int', 'uint32_t', buf, out(koffi.pointer('int')), out(buf)]),
    unwrap: call('gss_unwrap', number, 'void *', buf, out(buf), 'void *', 'void *'),
    releaseBuffer: call('gss_release_buffer', number, inOut(buf)),
    releaseName: call('gss_release_name', number, inOut(handle)),
    releaseCredentials: call('gss_release_cred', number, inOut(handle)),
    deleteContext: call('gss_delete_sec_context', number, inOut(handle), 'void *'),
    displayStatus: call(
      'gss_display_status',
      ...[number, 'uint32_t', 'int', oidType, inOut(koffi.pointer('uint32_t')), out(buf)],
    ),
  };
}
