/** The partitions of the index of due tasks. */

/**
 * Partitions of the index for a server's due tasks, each with up to 1000 writes per second. All tasks of an owner are in one, so that an
 * owner with many of them delays few others. Fixed, since other partitions would not be read.
 */
export const LINES = 16

export function lineOf(server: string, line: number): string {
  return `due#${server.length}:${server}#${line}`
}

export function hash(text: string): number {
  return [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) >>> 0, 7)
}
