/** Why an exchange with a Node handler ends if its client leaves: the handler has done nothing wrong. */
export class ClientGone extends Error {
  constructor() {
    super('The client has disconnected.')
  }
}
