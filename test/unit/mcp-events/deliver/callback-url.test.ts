/** Which URLs may receive webhooks, in every spelling of a host. */
import { describe, expect, it } from 'vitest'
import { checkCallbackUrl } from '../../../../src/mcp-events/deliver/callback-url.ts'

const RULES = { allowedOrigins: [], allowLoopback: false }

const refusal = (url: unknown, rules = {}): string => {
  try {
    checkCallbackUrl(url, { ...RULES, ...rules })
  } catch (error) {
    const { code, message } = error as { code: number; message: string }
    expect(code).toBe(-32602)
    expect(message).toMatch(/^Invalid params: "delivery.url" must [^\n]+\.$/)
    return message
  }
  return ''
}

describe('a callback URL', () => {
  it.each([
    'https://hooks.example.com/a',
    'https://hooks.example.com',
    'https://hooks.example.com/a?mcp_event_subscription=3f2c1c9e-0000-4000-8000-000000000000',
    'https://hooks.example.com?x=/../..//@b',
    'https://hooks.example.com/%2e%2e/@name?to=https://other.example',
    'HTTPS://Hooks.Example.com:443/',
    'https://xn--bcher-kva.example.com/',
    'https://8.8.8.8/hook',
    'https://[2606:4700:4700::1111]/hook',
  ])('%s is allowed', (url) => {
    expect(checkCallbackUrl(url, RULES).href).toBe(new URL(url).href)
  })

  it.each([
    ['http', 'http://hooks.example.com/'],
    ['another scheme', 'ftp://hooks.example.com/'],
    ['another scheme', 'javascript:alert(1)'],
    ['another scheme', 'file:///etc/passwd'],
    ['no authority', 'https:hooks.example.com'],
    ['one slash', 'https:/hooks.example.com'],
    ['three slashes', 'https:///hooks.example.com'],
    ['no scheme', '//hooks.example.com/'],
    ['nothing', ''],
    ['no text', 5],
    ['no text', null],
    ['a list', ['https://hooks.example.com/']],
    ['a user', 'https://user@hooks.example.com/'],
    ['a password', 'https://user:secret@hooks.example.com/'],
    ['an empty user', 'https://@hooks.example.com/'],
    ['a fragment', 'https://hooks.example.com/#a'],
    ['an empty fragment', 'https://hooks.example.com/#'],
    ['backslashes', 'https:\\\\hooks.example.com\\'],
    ['a backslash before a host', 'https://hooks.example.com\\@127.0.0.1/'],
    ['a line break', 'https://hooks.example.com/\n'],
    ['a tab in the host', 'https://hooks.exam\tple.com/'],
    ['a space', ' https://hooks.example.com/'],
    ['letters that are normalized', 'https://ⓗooks.example.com/'],
    ['a port', 'https://hooks.example.com:8443/'],
    ['a port of another protocol', 'https://hooks.example.com:25/'],
    ['a port that is none', 'https://hooks.example.com:99999/'],
    ['too long', `https://hooks.example.com/${'a'.repeat(2048)}`],
    ['a name of this machine', 'https://localhost/'],
    ['a name of this machine', 'https://a.localhost/'],
    ['a name of this machine', 'https://LOCALHOST./'],
    ['a name of a network', 'https://printer.local/'],
    ['a name of a network', 'https://metadata.google.internal/'],
    ['a name of a network', 'https://router.home.arpa/'],
    ['a name of a cluster', 'https://api.default.svc/'],
    ['one label', 'https://intranet/'],
    ['an empty label', 'https://hooks..example.com/'],
    ['an onion', 'https://abc.onion/'],
    ['loopback', 'https://127.0.0.1/'],
    ['loopback, short', 'https://127.1/'],
    ['loopback, decimal', 'https://2130706433/'],
    ['loopback, octal', 'https://0177.0.0.01/'],
    ['loopback, hex', 'https://0x7f000001/'],
    ['loopback, hex parts', 'https://0x7f.0x0.0x0.0x1/'],
    ['loopback, mixed', 'https://0x7f.1/'],
    ['loopback, escaped', 'https://%31%32%37.0.0.1/'],
    ['loopback, with a dot', 'https://127.0.0.1./'],
    ['this network', 'https://0/'],
    ['this network', 'https://0.0.0.0/'],
    ['private', 'https://10.1.2.3/'],
    ['private', 'https://192.168.0.1/'],
    ['private, hex', 'https://0xc0a80001/'],
    ['metadata', 'https://169.254.169.254/latest/meta-data/'],
    ['metadata, decimal', 'https://2852039166/'],
    ['metadata, octal', 'https://0251.0376.0251.0376/'],
    ['broadcast', 'https://255.255.255.255/'],
    ['loopback', 'https://[::1]/'],
    ['unspecified', 'https://[::]/'],
    ['mapped', 'https://[::ffff:127.0.0.1]/'],
    ['mapped, hex', 'https://[::ffff:7f00:1]/'],
    ['mapped, long', 'https://[0:0:0:0:0:ffff:a9fe:a9fe]/'],
    ['compatible', 'https://[::127.0.0.1]/'],
    ['behind NAT64', 'https://[64:ff9b::7f00:1]/'],
    ['behind NAT64', 'https://[64:ff9b::169.254.169.254]/'],
    ['6to4', 'https://[2002:7f00:1::]/'],
    ['Teredo', 'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/'],
    ['unique local', 'https://[fd00:ec2::254]/'],
    ['link-local', 'https://[fe80::1]/'],
    ['a zone', 'https://[fe80::1%25eth0]/'],
    ['a zone', 'https://[fe80::1%eth0]/'],
    ['multicast', 'https://[ff02::1]/'],
  ])('%s: %s is refused', (_what, url) => {
    expect(refusal(url)).not.toBe('')
  })

  it('a refusal has nothing of the URL in it', () => {
    expect(refusal('https://user:hunter2@hooks.example.com/')).not.toContain('hunter2')
    expect(refusal('https://10.1.2.3/secret')).not.toMatch(/10\.1|secret/)
  })

  it('with origins: those alone, with their ports and also in a private network', () => {
    const rules = { allowedOrigins: ['https://chatgpt.com', 'https://hooks.corp:8443'] }
    expect(refusal('https://chatgpt.com/hook', rules)).toBe('')
    expect(refusal('https://hooks.corp:8443/hook', rules)).toBe('')
    for (const url of [
      'https://chatgpt.com:8443/',
      'https://hooks.corp/',
      'https://chatgpt.com.example.com/',
      'https://hooks.example.com/',
      'http://chatgpt.com/',
    ])
      expect(refusal(url, rules)).toMatch(/an origin that this server allows|begin with https/)
  })

  it('in development: this machine, also with http and ports, and nothing else of it', () => {
    const rules = { allowLoopback: true }
    for (const url of [
      'http://localhost:3000/hook',
      'http://127.0.0.1:1/',
      'https://[::1]:8443/',
      'http://127.1/',
    ])
      expect(refusal(url, rules)).toBe('')
    for (const url of [
      'http://hooks.example.com/',
      'http://10.0.0.1/',
      'http://localhost.example.com/',
      'http://user@localhost/',
      'http://localhost/#a',
      'https://hooks.example.com:8443/',
    ])
      expect(refusal(url, rules)).not.toBe('')
  })

  it('otherwise this machine is refused with the option that opens it', () => {
    for (const url of [
      'http://127.0.0.1:4000/',
      'https://localhost/',
      'http://[::1]/',
      'http://localhost:3000/',
    ])
      expect(refusal(url, {})).toContain('"allowLoopback"')
    expect(refusal('https://localhost:8443/', { allowedOrigins: ['https://localhost:8443'] })).toBe('')
  })
})
