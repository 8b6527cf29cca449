import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';

export default defineConfig({
  // The page is served at any path, so the server makes the addresses fit.
  base: './',
  plugins: [react()],
  // The SDK is bundled from its sources, so that neither build waits for the other.
  resolve: { conditions: ['source', ...defaultClientConditions] },
  // The server puts the nonce of each request here.
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // Small files would become data: addresses, which scripts and styles may not use.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Libraries change less often than the console, so browsers keep them longer.
        codeSplitting: {
          groups: [{ name: 'libraries', test: /node_modules\/(react|react-dom|scheduler|@tanstack)\// }],
        },
      },
    },
  },
});
