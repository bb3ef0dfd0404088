import { lookup as resolveName, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { MillraceError } from '../../src/errors/millrace-error.js';

/** https://www.iana.org/assignments/iana-ipv4-special-registry and the one for IPv6: what is not globally reachable. */
const notPublic = {
  ipv4: [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
  ],
  // Those that carry an IPv4 address inside lead to whatever that is.
  ipv6: [
    '::/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '100::/64',
    '2001::/23',
    '2001:db8::/32',
    '2002::/16',
    '3fff::/20',
    '5f00::/16',
    'fc00::/7',
    'fe80::/10',
    'fec0::/10',
    'ff00::/8',
  ],
} as const;

/** Keeps calls from addresses that are not public, unless they are allowed. */
export interface AddressGuard {
  /** @throws MillraceError `config_invalid` for a host that is written as an address which may not be called */
  checkHost(hostname: string): void;
  /** Resolves names for connections: what it gives is what is connected to, so no second answer can lead elsewhere. */
  readonly lookup: LookupFunction;
}

/** @param allowed all of them, none, or those of these ranges */
export function createAddressGuard(allowed: boolean | readonly string[]): AddressGuard {
  const refused = listOf([...notPublic.ipv4, ...notPublic.ipv6]);
  const open = listOf(typeof allowed === 'boolean' ? [] : allowed);
  const mayCall = (address: string): boolean =>
    allowed === true || !isIn(refused, address) || isIn(open, address);
  return {
    checkHost(hostname) {
      const address = hostname.replace(/^\[|\]$/g, '');
      if (isIP(address) !== 0 && !mayCall(address)) throw refusal(hostname, address);
    },
    lookup: (hostname, options, callback) => {
      resolveName(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
        if (error !== null) return callback(error, []);
        // One that is not public among public ones is no oversight.
        const bad = addresses.find(({ address }) => !mayCall(address));
        if (bad !== undefined) return callback(refusal(hostname, bad.address), []);
        if (options.all === true) return callback(null, addresses);
        const [first] = addresses;
        callback(null, first!.address, first!.family);
      });
    },
  };
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (type === 'ipv6' ? 128 : 32) : Number(bits), type);
  }
  return list;
}

/** An IPv4 address in IPv6 clothes is looked at as the IPv4 address that it is. */
function isIn(list: BlockList, address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}

function refusal(hostname: string, address: string): MillraceError {
  return new MillraceError('config_invalid', `${hostname} is at ${address}, which is no public address.`, {
    hint: 'Where that is meant, allow it by `http.allowPrivate`: true, or a list of ranges.',
  });
}
