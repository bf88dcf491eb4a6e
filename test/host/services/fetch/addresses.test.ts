/** Which addresses a name may lead to. */
import { describe, expect, it } from "vitest";
import { isPublic, pinned } from "../../../../src/host/services/fetch/addresses.ts";

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "172.15.255.255",
  "172.32.0.1",
  "100.63.255.255",
  "100.128.0.1",
  "223.255.255.255",
  "2606:4700::1111",
];

const NOT_PUBLIC = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.255",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.2.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:8.8.8.8",
  "::127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b:1::1",
  "100::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "3fff::1",
  "fc00::1",
  "fd12:3456::1",
  "fe80::1",
  "fe80::1%lo",
  "fec0::1",
  "ff02::1",
  "not an address",
  "",
];

it.each(PUBLIC)("%s is public", (address) => expect(isPublic(address)).toBe(true));
it.each(NOT_PUBLIC)("%s is not public", (address) => expect(isPublic(address)).toBe(false));

const leads = (url: string, ...addresses: string[]) =>
  pinned(new URL(url), async () => addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));

describe("a name", () => {
  it("may lead to public addresses, and all of them are kept", async () => {
    expect(await leads("https://api.example.com/", "1.1.1.1", "2606:4700::1111")).toEqual([
      { address: "1.1.1.1", family: 4 },
      { address: "2606:4700::1111", family: 6 },
    ]);
  });

  it.each([["127.0.0.1"], ["10.0.0.1"], ["::1"], ["1.1.1.1", "169.254.169.254"], ["2606:4700::1111", "::ffff:10.0.0.1"], []])(
    "may not lead to %s %s",
    async (...addresses) => {
      expect(await leads("https://api.example.com/", ...addresses)).toBeUndefined();
    },
  );

  it("localhost leads to this machine and nowhere else", async () => {
    expect(await leads("http://localhost:3000/", "127.0.0.1", "::1")).toHaveLength(2);
    expect(await leads("http://localhost:3000/", "127.0.0.1", "10.0.0.1")).toBeUndefined();
    expect(await leads("http://localhost:3000/", "1.1.1.1")).toBeUndefined();
    expect(await leads("http://sub.localhost:3000/", "127.0.0.1")).toBeUndefined();
  });

  it("an address is no name: whoever granted it meant it", async () => {
    expect(await leads("http://10.1.2.3/")).toEqual([{ address: "10.1.2.3", family: 4 }]);
    expect(await leads("http://[fd00::1]:80/")).toEqual([{ address: "fd00::1", family: 6 }]);
  });
});
