/**
 * Constructions that no technical writer uses, each with what to write instead, and a search for them in pages and in the comments and
 * strings of sources. `test/docs/language.test.ts` fails for each that it finds.
 */
import ts from 'typescript'

export interface LanguageFault {
  readonly line: number
  /** As it is written, on one line. */
  readonly found: string
  readonly instead: string
}

/** A space in a pattern stands for any white space, so that a phrase is also found where it is wrapped. */
const RULES: readonly (readonly [pattern: string, instead: string])[] = [
  [
    'what (?:has|have) no |(?<!there )(?:is|are|was|were) no (?!longer|more|less|fewer|other|one)',
    'is not a …; an invalid …; without a …',
  ],
  ['(?<!there )(?:is|are|was|were) none\\b(?! of)', 'is not one; say what it is not'],
  ['while (?:the|a) \\w+ is none', 'until it becomes one'],
  ['such as (?:it|they)\\b', 'such as those that …'],
  ['(?:may|might|can|could) yet', 'may still'],
  ['(?<!(?:are|is|were) )all the same', 'still; anyway'],
  ['(?:comes?|stands?|is there|are there) twice', 'is listed twice; is repeated'],
  ['when(?:ever)? (?:it|they|you) likes?', 'at any time; polls for it'],
  ['whether (?:it|they) (?:is|are) right', 'whether it is correct; check it'],
  ['(?:have|has|with) an end date', 'expires; with an expiry date'],
  ['needs? not\\b', 'does not have to; does not need to'],
  ['the very (?!first|last|same)\\w+', 'the same …; exactly that …'],
  ['who(?:so)?ever', 'anyone who; those who; name them'],
  ['the pulse', 'the health check'],
  ['answers? whole', 'buffers the response'],
  ['whole answers?', 'a buffered response; the whole response'],
  ['stands? for itself', 'is independent'],
  ["'s (?:affair|business)", 'say who is responsible'],
  ['makes? no sense', 'say what fails, and what to do'],
  ['to be had', 'available'],
  ['(?:for|by|from|to|with|where|when|as|unless|but) nobody', 'no one; name the subject'],
  ['nobody (?:but|who)', 'only …; no one who'],
  ["(?:some|any|no)body else(?:'s)?", 'another process; another caller; name the subject'],
  ['processe?s? that stays?', 'a long-lived process'],
  ['or else of', 'otherwise per …'],
  ['(?:some|any|every|no)thing else of', 'the rest of'],
  ['(?<![(,] ?)\\btexts\\b(?!\\))', 'strings; passages; messages'],
  ['at (?:its|their) (?:top|end|head)', 'at the top; at the end'],
  ['but for', 'except; except for'],
  ['told of', 'notified of; informed of'],
  ['hears? (?:of|nothing)', 'is notified of; receives nothing'],
  ['nothing of', 'none of; nothing about'],
  ['without a word', 'silently'],
  ['for ever\\b', 'forever'],
  ['(?:lest|hence|upon|thereof|therein|thereby|herein|whereby|albeit|likewise)\\b', 'a common word'],
  ['for want of', 'without; because … is missing'],
  ['anew\\b', 'again; new'],
  ['without end\\b', 'endlessly; without a limit'],
  ['(?:is|are|of|by|for|from|to) who (?:asks|calls|runs|reads|listens)', 'the caller; the reader'],
  ['at once or not at all', 'atomically'],
  ['(?:is|are) said to', 'say who says it'],
  ['the time at which', 'when'],
  ['somebody (?:sees|saw) to it', 'something ensures'],
  ['sees? to it that', 'ensures that; makes sure that'],
  ['is due to be', 'will be'],
  ['by what (?:is|was|are) \\w+', 'name what it is'],
  ['(?:is|are) one of its own', 'is separate'],
  ['it is (?:he|they|she) who', 'name the subject'],
]

const COMPILED = RULES.map(([pattern, instead]) => ({
  pattern: new RegExp(`(?<![\\w-])(?:${pattern.replaceAll(/(?<!\\)(?<!\[\(,\]) /g, '\\s+')})`, 'gi'),
  instead,
}))

/** The faults in a Markdown page. Code and quotations, such as the names of tests, are not read. */
export function faultsInPage(text: string): LanguageFault[] {
  const prose = text
    .replaceAll(/^```[\s\S]*?^```/gm, blank)
    .replaceAll(/`[^`\n]*`/g, blank)
    .replaceAll(/\]\([^)\s]*\)/g, blank)
    .replaceAll(/"[^"\n]*"/g, blank)
  return faultsIn(prose)
}

/** The faults in the comments and strings of a TypeScript source. */
export function faultsInSource(file: string, text: string): LanguageFault[] {
  return faultsIn(proseOf(file, text))
}

function faultsIn(prose: string): LanguageFault[] {
  return COMPILED.flatMap(({ pattern, instead }) =>
    Array.from(prose.matchAll(pattern), ({ index, 0: found }) => ({
      line: prose.slice(0, index).split('\n').length,
      found: found.replaceAll(/\s+/g, ' '),
      instead,
    })),
  ).sort((one, other) => one.line - other.line)
}

/** Keeps the length and the lines, so that places stay what they were. No pattern matches across it. */
function blank(text: string): string {
  return text.replaceAll(/\S/g, '\0')
}

/** The source with everything blank but its comments and strings. */
function proseOf(file: string, text: string): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const spans = new Map<number, number>()
  const addComments = (at: number): void => {
    for (const ranges of [ts.getLeadingCommentRanges(text, at), ts.getTrailingCommentRanges(text, at)])
      for (const { pos, end } of ranges ?? []) spans.set(pos, end)
  }
  const visit = (node: ts.Node): void => {
    addComments(node.getFullStart())
    addComments(node.getEnd())
    if (ts.isStringLiteralLike(node) || isTemplatePart(node)) spans.set(node.getStart(source), node.getEnd())
    ts.forEachChild(node, visit)
  }
  visit(source)
  let prose = ''
  for (const [start, end] of [...spans].sort(([one], [other]) => one - other)) {
    prose += blank(text.slice(prose.length, start)) + readable(text.slice(start, end))
  }
  return prose + blank(text.slice(prose.length))
}

function isTemplatePart(node: ts.Node): boolean {
  return ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)
}

/** A comment without its marks, a string without its quotes; code in either is not read. */
function readable(text: string): string {
  if (/^['"`}]/.test(text)) return `\0${text.slice(1).replaceAll(/\\n|`/g, (mark) => blank(mark))}`
  return text
    .replaceAll(/^(?:\/\*\*?|\/\/)|\*\/$|^[ \t]*\*/gm, (mark) => ' '.repeat(mark.length))
    .replaceAll(/`[^`\n]*`/g, blank)
}
