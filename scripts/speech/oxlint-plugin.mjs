import { faultsOfComment, faultsOfName, faultsOfText, withoutAsterisks } from './speech.mjs';

/**
 * The package exports no types for rules but those that its tester takes.
 * @typedef {Extract<Parameters<import('oxlint/plugins-dev').RuleTester['run']>[1], {create: Function}>} Rule
 * @typedef {ReturnType<Parameters<Rule['create']>[0]['sourceCode']['getAllComments']>[number]} Comment
 */

/**
 * Joins line comments on successive lines: together they are one comment.
 * @param {readonly Comment[]} comments
 */
function joined(comments) {
  /** @type {{text: string, type: string, first: Comment, last: Comment}[]} */
  const blocks = [];
  for (const comment of comments) {
    const before = blocks.at(-1);
    const follows =
      before?.type === 'Line' && comment.type === 'Line' && before.last.loc.end.line === comment.loc.start.line - 1;
    if (follows) {
      before.text += `\n${comment.value}`;
      before.last = comment;
    } else {
      const text = comment.type === 'Block' ? withoutAsterisks(comment.value) : comment.value;
      blocks.push({ text, type: comment.type, first: comment, last: comment });
    }
  }
  return blocks;
}

/** @type {Rule} */
const speech = {
  create(context) {
    /** @param {Pick<Comment, 'loc'>} place @param {string[]} messages */
    const report = ({ loc }, messages) => {
      for (const message of messages) context.report({ loc, message });
    };
    return {
      Program() {
        for (const { text, first } of joined(context.sourceCode.getAllComments())) report(first, faultsOfComment(text));
      },
      Literal(node) {
        if (typeof node.value === 'string') report(node, faultsOfText(node.value));
      },
      TemplateLiteral(node) {
        report(node, faultsOfText(node.quasis.map(({ value }) => value.raw).join('…')));
      },
      VariableDeclarator({ id }) {
        if (id.type === 'Identifier') report(id, faultsOfName(id.name));
      },
      PropertyDefinition({ key }) {
        if (key.type === 'Identifier' || key.type === 'PrivateIdentifier') report(key, faultsOfName(key.name));
      },
    };
  },
};

export default { meta: { name: 'house' }, rules: { speech } };
