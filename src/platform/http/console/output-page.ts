import type { Response } from 'express';
import { ASK_AGAIN } from '../cache-control';
import { CONTENT_SECURITY_POLICY, outputPolicy } from '../security-headers';

/** Colours and letters of the tables that jobs print, in the scheme of the console. */
const STYLE = `
  :root { color-scheme: light; color: #15181e; background: transparent; font: 13px/1.45 system-ui, sans-serif; }
  :root[data-scheme='dark'] { color-scheme: dark; color: #e9ebef; }
  body { margin: 0; display: flow-root; }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
  th, td { padding: 4px 10px; border-bottom: 1px solid light-dark(#e3e6eb, #2a2f38); text-align: right; white-space: pre-wrap; }
  th { color: light-dark(#4b525d, #b0b7c3); font-weight: 500; }
  tbody tr:hover { background: light-dark(#f1f3f6, #1f232b); }
  img, svg, canvas, video { max-width: 100%; }
  a { color: light-dark(#4257c9, #98a8f8); }
`;

/** Shows the markup that the console sends to this frame, and reports the height that it needs. Scripts in the markup are executed. */
const SCRIPT = `
  const { documentElement: root, body } = document;
  let shown = null;
  let hasScripts = false;
  const report = () => parent.postMessage({ height: Math.ceil(root.getBoundingClientRect().height) }, '*');
  addEventListener('message', ({ source, data }) => {
    if (source !== parent || typeof data.html !== 'string') return;
    root.dataset.scheme = data.scheme;
    // The console sends the same markup again for another scheme, and its scripts may be executed only once.
    if (data.html === shown) return;
    // Names that scripts have declared stay until the page is loaded again, which then asks for the markup.
    if (hasScripts) return location.reload();
    shown = data.html;
    body.innerHTML = data.html;
    // Scripts that come with markup are not executed; copies of them are.
    for (const script of body.querySelectorAll('script')) {
      hasScripts = true;
      const copy = document.createElement('script');
      for (const { name, value } of script.attributes) copy.setAttribute(name, value);
      copy.text = script.text;
      script.replaceWith(copy);
    }
    report();
  });
  new ResizeObserver(report).observe(root);
  parent.postMessage({ isReady: true }, '*');
`;

const PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Output</title><style>${STYLE}</style></head>
<body><script>{${SCRIPT}}</script></body></html>
`;

/** Sends the page in which the console shows the markup of an output. It has nothing of its own, so everybody may read it. */
export function sendOutputPage(response: Response): void {
  response.setHeader(CONTENT_SECURITY_POLICY, outputPolicy());
  response.setHeader('X-Frame-Options', 'SAMEORIGIN');
  // Names of hosts in the markup would be looked up, and tell the owner of the name who reads the output.
  response.setHeader('X-DNS-Prefetch-Control', 'off');
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Cache-Control', ASK_AGAIN);
  response.send(PAGE);
}
