import { describe, expect, test } from 'vitest';
import { parseWebhook } from '../../../../schema/definitions/parse-webhook.ts';

const parse = (text: string) => parseWebhook('pay', 'webhooks/pay.yaml', Buffer.from(text));

/** Each problem as `line:column code: hint`, in the order of their places. */
function problems(text: string): string[] {
  return parse(text)
    .diagnostics.map(
      ({ code, range, hint }) => `${range?.start.line}:${range?.start.column} ${code}: ${hint}`,
    )
    .sort();
}

describe('a valid definition', () => {
  test('needs only a secretName', () => {
    expect(parse('secretName: PAY').definition).toEqual({
      name: 'pay',
      authMode: 'token',
      secretName: 'PAY',
      enabled: true,
    });
  });

  test('keeps every key that is written', () => {
    const text =
      'authMode: signature\nsignatureScheme: github\nsecretName: G.H-1\nbodyFormat: form\npayloadField: payload\ndeliveryIdHeader: X-Event-Id\nenabled: false\n';
    expect(parse(text).definition).toEqual({
      name: 'pay',
      authMode: 'signature',
      signatureScheme: 'github',
      secretName: 'G.H-1',
      bodyFormat: 'form',
      payloadField: 'payload',
      deliveryIdHeader: 'X-Event-Id',
      enabled: false,
    });
  });

  test('may describe an HMAC of its own', () => {
    const scheme = '{header: X-S, hash: sha256, encoding: hex, content: "{body}"}';
    const { definition } = parse(`authMode: signature\nsecretName: A\nsignatureScheme: ${scheme}\n`);
    expect(definition?.signatureScheme).toEqual({
      header: 'X-S',
      hash: 'sha256',
      encoding: 'hex',
      content: '{body}',
    });
  });

  test.for([
    ['authMode: url_token', 'event-grid'],
    ['authMode: url_token', 'microsoft-graph'],
    ['authMode: token', { cloudevents: 'eventgrid.azure.net' }],
    ['authMode: token', 'event-grid'],
  ] as const)('names the handshake of its sender: %s and %j', ([mode, handshake]) => {
    const text = `${mode}\nsecretName: A\nhandshake: ${JSON.stringify(handshake)}\n`;
    expect(parse(text)).toMatchObject({ diagnostics: [], definition: { handshake } });
  });

  test('survives JSON as it is', () => {
    const { definition } = parse('authMode: url_token\nsecretName: A\n');
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
  });
});

describe('one mistake', () => {
  const keys =
    'authMode, signatureScheme, tokenHeader, tokenPrefix, tokenScheme, tokenUser, issuer, audience, claims, secretName, bodyFormat, payloadField, deliveryIdHeader, deliveryIdField, identity, handshake, keepHeaders, sender, enabled';
  const signedByGitHub = 'authMode: signature\nsignatureScheme: github\nsecretName: A';

  test.for([
    ['secretName: A\nhandshake: event_grid', '2:12 definition/value: did you mean event-grid?'],
    [
      'secretName: A\nhandshake: cloudevents',
      '2:12 definition/value: name the origin that may deliver, as in handshake: { cloudevents: eventgrid.azure.net }',
    ],
    [
      'secretName: A\nhandshake: {cloudevents: "*"}',
      '2:26 definition/value: write exactly what the sender puts in WebHook-Request-Origin, as in eventgrid.azure.net',
    ],
    ['secretName: A\nhandshake: microsoft-graph', '2:12 definition/value: write authMode: url_token'],
    [
      'authMode: signature\nsignatureScheme: github\nsecretName: A\nhandshake: event-grid',
      '4:1 definition/value: remove it: the signature scheme says how its provider asks',
    ],
    [
      'authMode: bearer\nsecretName: A',
      '1:11 definition/value: allowed: token, url_token, signature or oidc',
    ],
    ['authMode: Token\nsecretName: A', '1:11 definition/value: did you mean token?'],
    ['authMode: url-token\nsecretName: A', '1:11 definition/value: did you mean url_token?'],
    ['authMode:\nsecretName: A', '1:10 definition/value: allowed: token, url_token, signature or oidc'],
    [
      'enabled: true',
      '1:1 definition/missing-key: add secretName: The team secret that holds the credential.',
    ],
    ['secretName: 12', '1:13 definition/type: put it in quotes'],
    ['secretName: true', '1:13 definition/type: put it in quotes'],
    ['secretName: A\nenabled: yes', '2:10 definition/type: write true: YAML 1.2 reads yes as a string'],
    ['secretName: A\nenabled: Off', '2:10 definition/type: write false: YAML 1.2 reads Off as a string'],
    [
      'secretName: A B',
      '1:13 definition/value: use 1–128 letters, digits, underscores, dots or hyphens; cannot start with a dot or hyphen',
    ],
    [
      'secretName: A\ndeliveryIdHeader: X Y',
      '2:19 definition/value: write only the name of the header, as in X-Event-Id',
    ],
    [
      'secretName: A\ndeliveryIdHeader: AUTHORIZATION',
      '2:19 definition/value: name the header in which the sender puts its event ID',
    ],
    ['secretName: A\nbodyFormat: from', '2:13 definition/value: allowed: json or form'],
    [
      'secretName: A\npayloadField: payload',
      '2:1 definition/value: write bodyFormat: form, or remove payloadField',
    ],
    [
      'authMode: signature\nsignatureScheme: mandrill\nbodyFormat: json\npayloadField: a\nsecretName: A',
      '4:1 definition/value: write bodyFormat: form, or remove payloadField',
    ],
    [
      "secretName: A\nbodyFormat: form\npayloadField: ''",
      '3:15 definition/value: Only with forms: the field whose value is the payload, as JSON.',
    ],
    ['secretName: A\nenabld: true', '2:1 definition/unknown-key: did you mean enabled?'],
    [
      'secretName: A\ntoString: 1',
      '2:1 definition/unknown-key: known keys: authMode, signatureScheme, tokenHeader, tokenPrefix, tokenScheme, tokenUser, issuer, audience, claims, secretName, bodyFormat, payloadField, deliveryIdHeader, deliveryIdField, identity, handshake, keepHeaders, sender, enabled',
    ],
    [
      'secretName: A\nauthMode: url_token\ntokenHeader: X-Token',
      '3:1 definition/value: write authMode: token, or remove tokenHeader',
    ],
    [
      'secretName: A\ntokenPrefix: Token',
      '2:1 definition/value: write tokenHeader: X-Token, or remove tokenPrefix',
    ],
    [
      'secretName: A\ntokenHeader: X-Token\ntokenScheme: bearer',
      '3:1 definition/value: remove one of the two',
    ],
    ['secretName: A\ntokenUser: me', '2:1 definition/value: write tokenScheme: basic, or remove tokenUser'],
    [
      'secretName: A\ntokenScheme: basic',
      '2:14 definition/missing-key: add tokenUser: with the user that the sender sends',
    ],
    [
      'secretName: A\ntokenHeader: X-Hook-Id\ndeliveryIdHeader: x-hook-id',
      '3:19 webhook/header-secret: remove it, and list only headers that describe the event',
    ],
    [
      'secretName: A\ntokenHeader: X-Hook\nkeepHeaders: [X-Tenant, x-hook]',
      '3:25 webhook/header-secret: remove it, and list only headers that describe the event',
    ],
    [
      `${signedByGitHub}\nidentity: none`,
      '4:1 definition/value: remove it: the same request, sent again by anyone who captured it, would start runs',
    ],
    [
      'secretName: A\nidentity: { sameBody: 200h }',
      '2:23 definition/value: write a time from 1s to 168h, e.g. 30s or 5m',
    ],
    [
      'secretName: A\nsender: { provider: github, repository: a/b, credentialSecret: B }',
      '2:1 webhook/sender-scheme: write authMode: signature, and signatureScheme: github, gitlab-token or gitlab-signing-token',
    ],
    [
      `${signedByGitHub}\ndeliveryIdField: $.id\nsender: { provider: github, repository: a/b, credentialSecret: B }`,
      '5:1 webhook/sender-identity: remove deliveryIdHeader, deliveryIdField or identity, so that missed deliveries can be found in the log of the provider',
    ],
    [
      `${signedByGitHub}\nsender: { provider: github, repository: a/b, credentialSecret: A }`,
      "4:1 definition/value: the provider's API token is another secret than the one that signs deliveries: name two team secrets",
    ],
    [
      `${signedByGitHub}\nsender: { provider: gitlab, project: a/b, credentialSecret: B }`,
      '4:1 webhook/sender-scheme: write authMode: signature, and signatureScheme: github, gitlab-token or gitlab-signing-token',
    ],
    [
      `${signedByGitHub}\nsender: { provider: github, credentialSecret: B }`,
      '4:9 definition/value: write exactly one of repository, organization, app',
    ],
    [
      `${signedByGitHub}\nsender: { provider: github, repository: a/b, organization: c, credentialSecret: B }`,
      '4:9 definition/value: write exactly one of repository, organization, app',
    ],
    [
      `${signedByGitHub}\nsender: { provider: github, repository: a/b, project: c/d, credentialSecret: B }`,
      '4:46 definition/value: write repository, organization or app',
    ],
    [
      `${signedByGitHub}\nsender: { provider: github, repository: shop, credentialSecret: B }`,
      '4:41 definition/value: use OWNER/NAME, as in acme/shop',
    ],
    [
      `${signedByGitHub}\nsender: { provider: github, repository: a/b, url: 'https://x:y@git.example.com', credentialSecret: B }`,
      '4:51 definition/value: write its address without user, password or query, as in https://git.example.com',
    ],
    [
      'secretName: A\nauthMode: signature',
      "2:11 webhook/scheme-missing: add signatureScheme: with the id of the sender's scheme, as in signatureScheme: github",
    ],
    [
      'secretName: A\nsignatureScheme: github',
      '2:1 webhook/scheme-unexpected: write authMode: signature, or remove signatureScheme',
    ],
    [
      'secretName: A\nauthMode: signature\nsignatureScheme: strip',
      '3:18 webhook/scheme-unknown: did you mean stripe?',
    ],
    [
      'secretName: A\nauthMode: signature\nsignatureScheme: {header: X-S, hash: sha256, encoding: hex, content: x}',
      '3:70 webhook/scheme-invalid: put {body} where the sender puts the request body, as in "{timestamp}.{body}"',
    ],
    [
      'authMode: oidc\nclaims: { repository: [a/b] }',
      "1:11 webhook/oidc-missing: add issuer: with the issuer of the sender's tokens, as in issuer: github-actions",
    ],
    [
      'authMode: oidc\nissuer: github-actions',
      '1:11 webhook/oidc-missing: add claims: that only your caller has, as in claims: { repository: [acme/shop] }',
    ],
    [
      'authMode: oidc\nissuer: github-actions\nclaims: { repository: [a/b] }\nsecretName: A',
      '4:1 webhook/oidc-unexpected: remove secretName',
    ],
    [
      'authMode: oidc\nissuer: github-actions\nclaims: { repository: [a/b] }\nsignatureScheme: github',
      '4:1 webhook/scheme-unexpected: write authMode: signature, or remove signatureScheme',
    ],
    [
      'secretName: A\naudience: https://hooks.example.com',
      '2:1 webhook/oidc-unexpected: write authMode: oidc, or remove audience',
    ],
    [
      'authMode: oidc\nissuer: azure\nclaims: { azp: [a] }',
      '2:9 webhook/issuer-invalid: write the URL of yours: https://login.microsoftonline.com/TENANT_ID/v2.0',
    ],
    [
      'authMode: oidc\nissuer: github-actions\nclaims: { ref: [refs/heads/main] }',
      '3:9 webhook/claims-unpinned: list the allowed values of repository, repository_id, repository_owner, repository_owner_id or sub',
    ],
    [
      'authMode: oidc\nissuer: github-actions\nclaims: { repository: a/b }',
      '3:23 webhook/claims-invalid: write repository: ["a/b"]',
    ],
    [
      'authMode: oidc\nissuer: gitlab\nclaims: { project_id: [7] }',
      '3:24 webhook/claims-invalid: put it in quotes',
    ],
    [
      'authMode: oidc\nissuer: gitlab\nclaims: { project_id: ["7"], aud: [x] }',
      '3:35 webhook/claims-invalid: remove it, and write the value as audience',
    ],
    [
      'authMode: oidc\nissuer: gitlab\nclaims: []',
      '3:9 webhook/claims-invalid: write them as in claims: { repository: [acme/shop] }',
    ],
    ['- secretName: A', `1:1 definition/type: write lines of key: value; the keys are ${keys}`],
    ['', `1:1 definition/type: write lines of key: value; the keys are ${keys}`],
    ['secretName:A', '1:1 definition/type: write a space after the colon'],
  ] as const)('%j is reported once, where it stands: %s', ([text, expected]) => {
    expect(problems(text)).toEqual([expected]);
    expect(parse(text).definition).toBeUndefined();
  });
});

describe('several mistakes', () => {
  test('are all reported, each at its position', () => {
    expect(problems('authMode: signatur\nsecretName: 12\nenabld: true\n')).toEqual([
      '1:11 definition/value: did you mean signature?',
      '2:13 definition/type: put it in quotes',
      '3:1 definition/unknown-key: did you mean enabled?',
    ]);
  });

  test('in single keys do not hide a rule over several keys', () => {
    expect(problems('authMode: signature\nsecretName: 12\nenabled: 1\n')).toEqual([
      "1:11 webhook/scheme-missing: add signatureScheme: with the id of the sender's scheme, as in signatureScheme: github",
      '2:13 definition/type: put it in quotes',
      '3:10 definition/type: write true or false',
    ]);
    expect(problems('signatureScheme: strip\nsecretName: A\n')).toEqual([
      '1:1 webhook/scheme-unexpected: write authMode: signature, or remove signatureScheme',
      '1:18 webhook/scheme-unknown: did you mean stripe?',
    ]);
  });

  test('do not follow from one another: a misspelt authMode says nothing about signatureScheme', () => {
    expect(problems('authMode: signatur\nsignatureScheme: github\nsecretName: A\n')).toEqual([
      '1:11 definition/value: did you mean signature?',
    ]);
  });

  test('are not made of one: a misspelt key is not missing as well', () => {
    expect(problems('SecretName: A\n')).toEqual(['1:1 definition/unknown-key: did you mean secretName?']);
  });

  test('of a described HMAC are reported at its keys', () => {
    const scheme = '{hedr: X-S, hash: md5, encoding: hex, content: "{body}"}';
    expect(problems(`authMode: signature\nsecretName: A\nsignatureScheme: ${scheme}\n`)).toEqual([
      '3:19 definition/unknown-key: did you mean header?',
      '3:36 definition/value: allowed: sha1, sha256 or sha512',
    ]);
  });

  test('are counted beyond the first 50, however many keys a file has', () => {
    const keys = Array.from({ length: 5_000 }, (_, i) => `k${i}: 1`);
    expect(problems(`secretName: A\n${keys.join('\n')}`)).toHaveLength(51);
  });
});
