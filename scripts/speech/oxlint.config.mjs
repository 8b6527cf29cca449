import { defineConfig } from 'oxlint';

/** Checks nothing but words, in every folder. */
export default defineConfig({
  jsPlugins: ['./oxlint-plugin.mjs'],
  categories: { correctness: 'off' },
  rules: { 'house/speech': 'error' },
});
