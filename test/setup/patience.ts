/** Of the project, in jest.config.cjs: jest takes no deadline of a test from there, but what the project calls global. */
declare const PATIENCE_MS: number;

jest.setTimeout(PATIENCE_MS);
