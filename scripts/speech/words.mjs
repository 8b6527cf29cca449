/** @typedef {{pattern: RegExp, instead: string}} Banned */

/** Files and folders that stay as they are: migrations are never edited, and the others quote what is banned. */
export const EXEMPT = ['src/database/migrations/**', 'scripts/speech/words.mjs', 'test/unit/speech.spec.ts'];

/** A fragment leaves its subject out; a question at the beginning of a comment is a sentence. */
const QUESTION_WORDS = 'What|Whether|Which|Who|Whom|Whose|Why|How';

/** Openings of comments that make a fragment or hide the subject. */
export const OPENINGS = /** @type {Banned[]} */ ([
  { pattern: /^(Of|Those|Whoever|Such|That of)\b/, instead: 'begin with the subject' },
  {
    pattern: new RegExp(String.raw`^(${QUESTION_WORDS})\b(?![^.]*\?)`),
    instead: 'begin with the subject or the verb, such as "Returns" or "True if"',
  },
  // With a comma, a main clause may follow: "As the lock is held, nothing changes."
  { pattern: /^(Where|When|As|By(?! then\b))\b[^,]*?(?:[.;:]\s|\.?$)/, instead: 'write a main clause, or a noun' },
  { pattern: /^(By (?:what|which|whom|whose))\b/, instead: 'begin with the subject' },
  // "Answers" may be a noun, and a server answers requests; a function returns a value.
  {
    pattern:
      /^(Answers)\b(?! (?:in|of|to|from|on|for|with|that|which|are|come|may|must)\b)(?!(?: \S+){0,2} (?:requests?|calls?|questions?|probes?|polls?|operations?)\b)/,
    instead: '"Returns"',
  },
]);

/** Words that no comment and no text contains. */
export const WORDS = /** @type {Banned[]} */ ([
  { pattern: /\b(?:whoever|whomever)\b/i, instead: 'name the caller, the user or the process' },
  { pattern: /\b(?:aught|thereof|therein|whence|lest|anew|in vain)\b/i, instead: 'use everyday words' },
  { pattern: /\bshall\b/i, instead: '"must", "will" or the present tense' },
  { pattern: /\bheed(?:s|ed|ing)?\b/i, instead: '"handle", "obey" or "respect"' },
  { pattern: /\b(?:brings?|brought)\b(?!-nodes)/i, instead: '"start", "move", "return" or "cause"' },
  {
    pattern: /\bsuch that there\b|\bthat there (?:is|are)\b|\bthat is none\b|\bis none of\b/i,
    instead: 'say what exists',
  },
  { pattern: /\bas asked for\b|\b(?:is|are|was|were|be|been|being) asked for\b/i, instead: '"requested"' },
  {
    pattern: /\b(?:is|are|was|were|be|been|being) told\b(?! apart)/i,
    instead: '"receives", "is sent" or "is reported"',
  },
  { pattern: /\btells\b(?! apart)/, instead: '"says", "names", "lists", "shows" or "holds"' },
  { pattern: /\b(?:for|about|at most|up to|after) so (?:many|long)\b/i, instead: 'name the limit' },
  { pattern: /\b(?:comes?|came) of\b/i, instead: '"results from", or name the result' },
]);

/** Parts of names of constants. */
export const NAMES = /** @type {Banned[]} */ ([
  { pattern: /(?:^|_)(MOST|LONGEST|LARGEST)_/, instead: 'MAX_' },
  { pattern: /(?:^|_)(LEAST|SHORTEST)_/, instead: 'MIN_' },
]);
