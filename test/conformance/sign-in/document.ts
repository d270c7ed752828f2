/** Where the metadata document of a client would be. */
export const DOCUMENT = 'https://app.example.com/client.json'
