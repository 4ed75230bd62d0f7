/** @limit Longest string of a payload that is shown as an example, in characters: longer ones are prose or data. */
const exampleCharsMax = 40;

// Names of fields whose values may be credentials or give access to something, whatever they look like.
const secretName =
  /passw|passphrase|secret|token|credential|authori[sz]|(?:^|[_-])auth(?:$|[_-])|api[_-]?key|private[_-]?key|access[_-]?key|signature|session|cookie|nonce|otp|(?:^|[_-])(?:pin|pwd|cvc|cvv|ssn|iban|key)(?:$|[_-])/i;

// The beginnings of well-known credentials, and of a JWT and a PEM block.
const known =
  'gh[pousr]_|github_pat_|glpat-|sk[_-]|pk[_-]|rk[_-]|whsec_|xox[abeoprs]-|AKIA|ASIA|AIza|ya29\\.|eyJ|shp(?:at|ca|pa|ss)_|SG\\.|npm_|dop_v1_';
const credentialPrefix = new RegExp(`^(?:${known}|-----BEGIN|Bearer |Basic )`);
// Inside a text, with enough characters for a credential after it.
const credentialInside = new RegExp(
  `(?<![A-Za-z0-9])(?:${known})[\\w.+/=-]{8,}|-----BEGIN|\\b(?:Bearer|Basic) (?=\\S*[\\d+/=])\\S{8,}`,
);

// A user in a URL, or a parameter of one.
const urlCredential = /:\/\/[^/]*@|[?&#][^=]*=/;

/** Whether values below a key may be shown: the key is not the name of something secret. */
export function isShowableName(key: string): boolean {
  return !secretName.test(splitWords(key));
}

/** Whether a value may be shown as an example: it is short, and neither looks like a credential nor like one inside a URL. */
export function isShowableValue(value: unknown): boolean {
  if (typeof value !== 'string') return true;
  if (value.length > exampleCharsMax || credentialPrefix.test(value) || credentialInside.test(value))
    return false;
  if (urlCredential.test(value)) return false;
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
      const isHidden = [credentialPrefix, credentialInside, urlCredential].some(one => one.test(word));
      return isHidden || word.split(/[^A-Za-z0-9+=]+/).some(looksRandom) ? '…' : word;
    });
}

/** @limit Longest name of a team secret, in characters: longer than the variable names that people use for secrets. */
const secretNameCharsMax = 128;

export const secretNamePattern = new RegExp(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,${secretNameCharsMax - 1}}$`);

/** Says why a text cannot name a team secret. It does not quote the text: somebody may have given the secret itself. */
export function findSecretNameMistake(name: string) {
  if (isCredential(name)) {
    return {
      code: 'secret/pasted',
      message: 'this looks like a credential, not like the name of a team secret',
      hint: 'store it with `hookmill secrets set NAME`, and write NAME; if it was ever pushed, replace it at the provider',
    };
  }
  if (secretNamePattern.test(name)) return undefined;
  return {
    code: 'definition/value',
    message: 'this is not a valid name for a team secret',
    hint: `use 1–${secretNameCharsMax} letters, digits, underscores, dots or hyphens; cannot start with a dot or hyphen`,
  };
}

/**
 * Whether a text that should be a name is a credential: it starts as a well-known one, or has 32 and more random characters.
 * Words of one case with a short number, such as `GITHUB_WEBHOOK_SECRET_FOR_PRODUCTION_2`, are a name.
 */
export function isCredential(text: string): boolean {
  const prefix = credentialPrefix.exec(text)?.[0];
  if (prefix === undefined) return isGenerated(text);
  return !text
    .slice(prefix.length)
    .split(/[^A-Za-z0-9]+/)
    .every(word => nameWord.test(word));
}

const nameWord = /^\d{0,2}(?:[A-Z]?[a-z]{0,16}|[A-Z]{0,16})\d{0,4}$/;

/** Fewest characters of a generated key without a known beginning. */
const generatedCharsMin = 32;

/** Whether a text is 32 and more characters of hex, base32 or base64: its letters and digits change at random. */
function isGenerated(text: string): boolean {
  if (text.length < generatedCharsMin || !/^[\w+/.-]+={0,2}$/.test(text)) return false;
  if (/^(?=.*\d)[0-9a-f]{32,}$/i.test(text.replaceAll('-', ''))) return true;
  const words = text.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const parts = text.match(/[A-Za-z0-9]+/g) ?? [];
  // The share of characters that start a word without a separator: over 0.29 in all but one of a thousand random texts of
  // both cases, and 0.15 in names in camelCase. Of one case, names with separators have up to 0.15, too.
  const share = (words.length - parts.length) / parts.join('').length;
  return /[a-z]/.test(text) && /[A-Z]/.test(text) ? share > 0.29 : share > 0.12 && parts.length === 1;
}

// A key whose value is a credential, with the value on its line. Our own `credentialSecret` has the name of one.
const assignment =
  /(?<![\w.-])(?!credentialSecret\b)[\w.-]*(?:secret|secret_name|token|passw(?:or)?d|pwd|passphrase|credentials?|authorization|(?:api|access|private|signing)[_-]?key)["']?\s*:\s+(?![\s[{|>&*#]|["']?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+["']?\s*(?:[,}#]|$))/i;

// Our own key, with what is no name of a team secret: somebody may have given the secret itself.
const nameAssignment =
  /(?<![\w.-])secretName["']?\s*:\s+(?!\s|#|["']?[A-Za-z0-9_][\w.-]*["']?\s*(?:[,}#]|$))/;

/** Masks what looks like a credential. The text keeps its length, so that columns stay what they are. */
export function maskCredentials(text: string): string {
  return text
    .replaceAll(/(?<=:\/\/)[^\s/@]+(?=@)/g, mask)
    .replaceAll(/[\w+/.-]+={0,2}/g, word => (isCredential(word) ? mask(word) : word));
}

/** Masks credentials in a line of a file, and all that follows a key such as `secret:`. The line keeps its length. */
export function maskLine(line: string): string {
  const found = assignment.exec(line) ?? nameAssignment.exec(line);
  const end = found ? found.index + found[0].length : line.length;
  return maskCredentials(line.slice(0, end)) + mask(line.slice(end));
}

function mask(text: string): string {
  return text.replaceAll(/\S/g, '*');
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
