/** The commands that a page prints: every line of its `sh` blocks, as a reader would copy it. */
import { readFileSync } from 'node:fs'

/** Without comments; lines that a backslash continues are one. */
export function commandsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .replaceAll(/\s*\\\n\s*/g, ' ')
      .split('\n')
      .map((line) => line.replace(/(?:^|\s+)#\s.*$/, '').trim())
      .filter((line) => line !== ''),
  )
}
