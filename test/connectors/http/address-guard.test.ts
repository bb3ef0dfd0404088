import { describe, expect, test } from 'vitest';
import { createAddressGuard } from '../../../connectors/http/address-guard.js';

const hostsOf = (text: string) => text.trim().split(/\s+/);
const refused = hostsOf(`
  127.0.0.1 127.9.9.9 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 192.0.0.170 192.0.2.1
  198.18.0.1 198.51.100.7 203.0.113.7 224.0.0.1 255.255.255.255
  [::] [::1] [::ffff:127.0.0.1] [::ffff:10.0.0.1] [::ffff:a9fe:a9fe] [::7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::] [fc00::1] [fd12::1]
  [fe80::1] [fec0::1] [ff02::1] [2001:db8::1] [100::1]`);
const open = hostsOf(
  '8.8.8.8 172.32.0.1 192.167.255.255 100.128.0.1 [2606:4700::1] [::ffff:8.8.8.8] example.com',
);

describe('addresses that are not public', () => {
  test.each(refused)('%s may not be called, unless all may be', (host) => {
    expect(() => createAddressGuard(false).checkHost(host)).toThrow(/no public address/);
    createAddressGuard(true).checkHost(host);
  });
  test.each(open)('%s may be called', (host) => createAddressGuard(false).checkHost(host));

  test('ranges may be allowed, and open nothing else', () => {
    const guard = createAddressGuard(['10.1.0.0/16', '127.0.0.1', 'fd00::/8']);
    for (const host of ['10.1.2.3', '127.0.0.1', '[fd12::1]']) guard.checkHost(host);
    for (const host of ['10.2.0.1', '127.0.0.2', '[fc00::1]', '[::1]'])
      expect(() => guard.checkHost(host)).toThrow(/no public address/);
  });

  test('URL spellings of an address are the address', () => {
    const guard = createAddressGuard(false);
    for (const url of ['http://0x7f.1/', 'http://2130706433/', 'http://017700000001/', 'http://[0:0::1]/'])
      expect(() => guard.checkHost(new URL(url).hostname)).toThrow(/no public address/);
  });

  test.each([true, false])('a name that leads there is not resolved (all: %s)', async (all) => {
    const resolve = (allowed: boolean) =>
      new Promise<unknown>((done) =>
        createAddressGuard(allowed).lookup('localhost', { all }, (error, addresses) =>
          done(error ?? addresses),
        ),
      );
    expect(await resolve(false)).toMatchObject({ code: 'config_invalid' });
    const given = await resolve(true);
    expect(JSON.stringify(given)).toMatch(/127\.0\.0\.1|::1/);
    expect(Array.isArray(given)).toBe(all);
  });
});
