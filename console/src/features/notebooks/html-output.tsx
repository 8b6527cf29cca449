import { useComputedColorScheme } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { consolePath } from '../../api/client';
import { notebookTexts as t } from '../../shared/notebook-texts';

const MIN_HEIGHT = 24;
const MAX_HEIGHT = 640;

/** Shows markup that a job has made, in a frame of another origin: its scripts reach nothing of the console. */
export function HtmlOutput({ html }: { html: string }): ReactNode {
  const frame = useRef<HTMLIFrameElement>(null);
  const scheme = useComputedColorScheme('light');
  const [height, setHeight] = useState(MIN_HEIGHT);
  useEffect(() => {
    const shown = frame.current?.contentWindow;
    // The frame has an opaque origin, which cannot be named; what it is sent is only its own.
    const show = () => shown?.postMessage({ html, scheme }, '*');
    const onMessage = ({ source, data }: MessageEvent<unknown>) => {
      if (source !== shown || typeof data !== 'object' || data === null) return;
      if ('isReady' in data) show();
      if ('height' in data && typeof data.height === 'number') setHeight(boundedHeight(data.height));
    };
    window.addEventListener('message', onMessage);
    show();
    return () => window.removeEventListener('message', onMessage);
  }, [html, scheme]);
  return (
    <iframe
      ref={frame}
      title={t.html}
      src={`${consolePath}output`}
      sandbox="allow-scripts"
      style={{ height, width: '100%', border: 0, colorScheme: scheme, display: 'block' }}
    />
  );
}

function boundedHeight(height: number): number {
  return Number.isFinite(height) ? Math.min(Math.max(Math.ceil(height), MIN_HEIGHT), MAX_HEIGHT) : MIN_HEIGHT;
}
