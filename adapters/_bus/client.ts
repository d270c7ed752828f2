/** @throws TypeError for anything but a client, naming the packages that have one. */
export function requireClient(where: string, client: unknown, packages: string): void {
  if ((typeof client === 'object' || typeof client === 'function') && client !== null) return
  throw new TypeError(`${where} needs a connected client of ${packages}.`)
}
