/** Collects bytes without copying all of them for each addition. */
export class ByteBuffer {
  #bytes = new Uint8Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(bytes: Uint8Array): void {
    const needed = this.#length + bytes.byteLength
    if (needed > this.#bytes.byteLength) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.byteLength, 1024))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(bytes, this.#length)
    this.#length = needed
  }

  /** Returns the collected bytes followed by `more`, and keeps the collected ones. */
  with(more: Uint8Array): Uint8Array {
    if (this.#length === 0) return more
    const all = new Uint8Array(this.#length + more.byteLength)
    all.set(this.#bytes.subarray(0, this.#length))
    all.set(more, this.#length)
    return all
  }

  /** Returns the collected bytes, and empties the buffer. */
  takeAll(): Uint8Array {
    const all = this.#bytes.subarray(0, this.#length)
    this.#bytes = new Uint8Array(0)
    this.#length = 0
    return all
  }
}
