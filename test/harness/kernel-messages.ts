/** Returns a message of the Jupyter protocol as the control plane sends it to a kernel. */
export function kernelMessage(msgId: string, type: string, code: string) {
  const header = { msg_id: msgId, msg_type: type, version: '5.3' };
  return { header, parent_header: {}, metadata: {}, content: { code } };
}
