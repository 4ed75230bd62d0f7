/** @limit Longest string of a payload that is shown as an example, in characters: longer ones are prose or data. */
const exampleCharsMax = 40;

// Names of fields whose values may be credentials or give access to something, whatever they look like.
const secretName =
  /passw|passphrase|secret|token|credential|authori[sz]|(?:^|[_-])auth(?:$|[_-])|api[_-]?key|private[_-]?key|access[_-]?key|signature|session|cookie|nonce|otp|(?:^|[_-])(?:pin|pwd|cvc|cvv|ssn|iban|key)(?:$|[_-])/i;

// The beginnings of well-known credentials, and of a JWT and a PEM block.
const credentialPrefix =
  /^(?:gh[pousr]_|github_pat_|glpat-|sk[_-]|pk[_-]|rk[_-]|whsec_|xox[abeoprs]-|AKIA|ASIA|AIza|ya29\.|eyJ|shp(?:at|ca|pa|ss)_|SG\.|npm_|dop_v1_|-----BEGIN|Bearer |Basic )/;

// A user in a URL, or a parameter of one.
const urlCredential = /:\/\/[^/]*@|[?&#][^=]*=/;

/** Whether values below a key may be shown: the key is not the name of something secret. */
export function isShowableName(key: string): boolean {
  return !secretName.test(splitWords(key));
}

/** Whether a value may be shown as an example: it is short, and neither looks like a credential nor like one inside a URL. */
export function isShowableValue(value: unknown): boolean {
  if (typeof value !== 'string') return true;
  if (value.length > exampleCharsMax || credentialPrefix.test(value) || urlCredential.test(value))
    return false;
  return !value.split(/[^A-Za-z0-9_+/=-]+/).some(looksRandom);
}

/**
 * Replaces the words of a text that look like credentials. Parts of names, such as `feature/JIRA-12-v2`, are judged one by
 * one.
 */
export function hideCredentials(text: string): string {
  return text
    .replaceAll(/\b(Bearer|Basic) (?=\S*[\d+/=])\S{8,}/gi, '$1 …')
    .replaceAll(/[^\s"'“”()<>,;]+/g, word => {
      const isHidden = credentialPrefix.test(word) || urlCredential.test(word);
      return isHidden || word.split(/[^A-Za-z0-9+=]+/).some(looksRandom) ? '…' : word;
    });
}

/** Whether a word could be a generated key: 16 or more characters that mix letters with several digits, or cases. */
function looksRandom(word: string): boolean {
  if (word.length < 16) return false;
  const runs = word.match(/[a-z]+|[A-Z]+|\d+/g) ?? [];
  const digits = word.replaceAll(/\D/g, '').length;
  const letters = word.replaceAll(/[^A-Za-z]/g, '').length;
  return (digits >= 2 && letters >= 2 && runs.length >= 5) || /^[0-9a-f]{20,}$/i.test(word);
}

/** Separates the words of a name in camelCase, so that `apiKey` is read as `api_key`. */
function splitWords(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2');
}
