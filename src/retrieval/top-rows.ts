/**
 * The best rows so far: a heap with the worst one first. With equal scores, the earlier row is better, so that the same search has the same
 * result.
 */
export class TopRows {
  readonly #size: number
  readonly #rows: number[] = []
  readonly #scores: number[] = []

  constructor(size: number) {
    this.#size = size
  }

  /** Whether `add` would keep this row. */
  accepts(score: number, row: number): boolean {
    if (this.#rows.length < this.#size) return true
    return this.#size > 0 && (score > this.#scores[0]! || (score === this.#scores[0] && row < this.#rows[0]!))
  }

  add(row: number, score: number): void {
    if (this.#rows.length < this.#size) {
      this.#rows.push(row)
      this.#scores.push(score)
      this.#up(this.#rows.length - 1)
    } else {
      this.#rows[0] = row
      this.#scores[0] = score
      this.#down(0)
    }
  }

  /** Best first. */
  sorted(): { row: number; score: number }[] {
    const all = this.#rows.map((row, index) => ({ row, score: this.#scores[index]! }))
    return all.sort((one, other) => other.score - one.score || one.row - other.row)
  }

  #isWorse(one: number, other: number): boolean {
    const [a, b] = [this.#scores[one]!, this.#scores[other]!]
    return a < b || (a === b && this.#rows[one]! > this.#rows[other]!)
  }

  #up(index: number): void {
    for (let at = index; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!this.#isWorse(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #down(index: number): void {
    for (let at = index; ; ) {
      let worst = at
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < this.#rows.length && this.#isWorse(child, worst)) worst = child
      if (worst === at) return
      this.#swap(at, worst)
      at = worst
    }
  }

  #swap(one: number, other: number): void {
    for (const list of [this.#rows, this.#scores]) [list[one], list[other]] = [list[other]!, list[one]!]
  }
}
