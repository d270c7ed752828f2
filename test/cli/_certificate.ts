/** A certificate for servers of tests, which only processes that are told so trust. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** The environment of a process that trusts `CERTIFICATE`, for as long as the test runs. */
export function trustingTestCertificate(): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'certificate.pem')
  writeFileSync(file, CERTIFICATE.cert)
  return { NODE_EXTRA_CA_CERTS: file }
}

/** For 127.0.0.1, until 2099, signed by itself; made for this test and of no use elsewhere. */
export const CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjPo0SzZQkD8n8vzx
PzaJ/xMNTMyKai+uu0OIfWnXJfShRANCAAR0VvpaV5OWe/5YEehkF7W4UxpWUm16
k8uwtrvnkqy33iVUPhX1EWcWOVv0w++iL+BxTPiWX9JGoxCeUlFjqhu+
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBXDCCAQKgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAkxMjcuMC4w
LjEwIBcNMjAwMTAxMDAwMDAwWhgPMjA5OTAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CTEyNy4wLjAuMTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHRW+lpXk5Z7/lgR
6GQXtbhTGlZSbXqTy7C2u+eSrLfeJVQ+FfURZxY5W/TD76Iv4HFM+JZf0kajEJ5S
UWOqG76jQzBBMA8GA1UdEQQIMAaHBH8AAAEwDwYDVR0TAQH/BAUwAwEB/zAdBgNV
HQ4EFgQUd3m00MdTyG6p08O9MU4Ju43wHY8wCgYIKoZIzj0EAwIDSAAwRQIgTNHR
g4XFYYjAyyAPUEjD7JRt/0c80mvu4tBJB6T2iCwCIQCSNi2iQFckPaOzNX0GhkQf
Tqqtl30o1z9aKkVDEjl9qg==
-----END CERTIFICATE-----
`,
}
