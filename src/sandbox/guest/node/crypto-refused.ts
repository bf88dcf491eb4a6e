/** Inside the isolate: what of `crypto` would have to leave the cell and cannot wait. It throws one sentence when it is called. */
export const REFUSED =
  "Certificate Cipheriv Decipheriv DiffieHellman DiffieHellmanGroup ECDH KeyObject Sign Verify X509Certificate argon2 argon2Sync checkPrime checkPrimeSync createCipheriv createDecipheriv createDiffieHellman createDiffieHellmanGroup createECDH createPrivateKey createPublicKey createSecretKey createSign createVerify decapsulate diffieHellman encapsulate generateKey generateKeyPair generateKeyPairSync generateKeySync generatePrime generatePrimeSync getCipherInfo getDiffieHellman privateDecrypt privateEncrypt publicDecrypt publicEncrypt secureHeapUsed setEngine setFips sign verify".split(
    " ",
  );
