/** A progress bar on stderr, if that is a terminal. */
import { terminal } from '../terminal/terminal.ts'

export interface Progress {
  show(done: number, total: number): void
  end(): void
}

const WIDTH = 30

export function createProgress(): Progress {
  if (process.stderr.isTTY !== true) return { show: () => {}, end: () => {} }
  let isShown = false
  return {
    show(done, total) {
      const filled = Math.round((done / total) * WIDTH)
      terminal.redraw(`[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done} of ${total} chunks`)
      isShown = true
    },
    end() {
      if (isShown) terminal.redraw('')
      isShown = false
    },
  }
}
