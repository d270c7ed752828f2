/** Bytes put together without copying them again for each that is added. */
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

  /** Everything so far and `more`; keeps what it had. */
  with(more: Uint8Array): Uint8Array {
    if (this.#length === 0) return more
    const all = new Uint8Array(this.#length + more.byteLength)
    all.set(this.#bytes.subarray(0, this.#length))
    all.set(more, this.#length)
    return all
  }

  /** Everything so far; begins anew. */
  takeAll(): Uint8Array {
    const all = this.#bytes.subarray(0, this.#length)
    this.#bytes = new Uint8Array(0)
    this.#length = 0
    return all
  }
}
