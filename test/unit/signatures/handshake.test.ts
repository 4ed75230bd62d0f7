import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerHandshake, getHandshakeMethod, isSignedForAnyone } from '../../../signatures/handshake.ts';
import { schemes } from '../../../signatures/schemes.ts';
import { getScheme, received, url } from './received.ts';

const text = { 'Content-Type': 'text/plain', 'X-Content-Type-Options': 'nosniff' };

describe('answerHandshake', () => {
  it("echoes Slack's challenge", () => {
    const body =
      '{"token":"t","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}';
    expect(answer('slack', post(body))).toEqual({
      status: 200,
      headers: text,
      body: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
    });
  });

  it('answers Zoom as its sample application does', () => {
    const body =
      '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1}';
    const answered = answer('zoom', post(body), 'zoom_secret_token');
    expect(answered?.headers).toEqual({ 'Content-Type': 'application/json' });
    expect(JSON.parse(answered?.body ?? '')).toEqual({
      plainToken: 'qgg8vlvZRS6UYooatFL8Aw',
      encryptedToken: 'bd48235863f4a6323ccc4963c594908b7c97f88b4a6a95278f4f093690b12726',
    });
  });

  it("echoes Twitch's challenge, which a header announces", () => {
    const headers = { 'Twitch-Eventsub-Message-Type': 'webhook_callback_verification' };
    const body = '{"challenge":"pogchamp-kappa-360noscope-vohiyo"}';
    expect(answer('twitch', received(headers, body))?.body).toBe('pogchamp-kappa-360noscope-vohiyo');
    const notification = { 'Twitch-Eventsub-Message-Type': 'notification' };
    expect(answer('twitch', received(notification, body))).toBeUndefined();
  });

  it("acknowledges Discord's ping, and no event", () => {
    expect(answer('discord', post('{"version":1,"type":0}'))).toEqual({ status: 204, headers: {}, body: '' });
    expect(answer('discord', post('{"version":1,"type":1,"event":{}}'))).toBeUndefined();
  });

  it("sends Asana's secret back to it", () => {
    const request = received({ 'X-Hook-Secret': 'b537207f20cbfa02357cf448134da559' }, '', {});
    expect(answer('asana', request, '', false)).toEqual({
      status: 200,
      headers: { 'X-Hook-Secret': 'b537207f20cbfa02357cf448134da559' },
      body: '',
    });
  });

  it("echoes Meta's challenge when it subscribes", () => {
    const query = '?hub.mode=subscribe&hub.verify_token=any&hub.challenge=1158201444';
    expect(answer('meta', get(query), '', false)).toEqual({ status: 200, headers: text, body: '1158201444' });
    expect(answer('meta', get('?hub.challenge=1158201444'), '', false)).toBeUndefined();
  });

  it("echoes Dropbox's challenge", () => {
    expect(answer('dropbox', get('?challenge=rLm_0-9'), '', false)).toEqual({
      status: 200,
      headers: text,
      body: 'rLm_0-9',
    });
  });

  it("echoes Okta's challenge header", () => {
    const request = received({ 'X-Okta-Verification-Challenge': 'my-challenge' }, '', { method: 'GET' });
    expect(answer('okta', request, '', false)?.body).toBe('{"verification":"my-challenge"}');
  });

  it("signs X's token", () => {
    // printf challenge_string | openssl dgst -sha256 -hmac consumer_secret -binary | base64
    expect(answer('x', get('?crc_token=challenge_string'), 'consumer_secret', false)?.body).toBe(
      '{"response_token":"sha256=v1WdiCVwy17uGTMWveHGlqQXN/qW1bQraNXXByRO2YA="}',
    );
  });

  it.each(['123', '-1', '1e5', 'true', 'null', '%22a%22', '%7B%7D', '%5B%5D'])(
    "never signs a token that could be a delivery's body: %s",
    token => {
      expect(answer('x', get(`?crc_token=${token}`), 'consumer_secret', false)).toBeUndefined();
    },
  );

  it('signs nothing with an empty secret', () => {
    expect(answer('x', get('?crc_token=challenge_string'), '', false)).toBeUndefined();
  });

  it("answers WooCommerce's unsigned ping, and no other form", () => {
    const ok = { status: 200, headers: {}, body: '' };
    expect(answer('woocommerce', post('webhook_id=12'), '', false)).toEqual(ok);
    for (const body of ['webhook_id=', 'webhook_id=12&a=1', 'webhook_id=1\n', '{"webhook_id":12}', '']) {
      expect(answer('woocommerce', post(body), '', false)).toBeUndefined();
    }
  });

  it("answers Trello's HEAD request, and no other", () => {
    const ok = { status: 200, headers: {}, body: '' };
    expect(answer('trello', received({}, '', { method: 'HEAD' }), '', false)).toEqual(ok);
    expect(answer('trello', post(''), '', false)).toBeUndefined();
    expect(answer('trello', get(''), '', false)).toBeUndefined();
  });

  it.each([
    ['slack', '{"challenge":"c","type":"url_verification"}'],
    ['zoom', '{"event":"endpoint.url_validation","payload":{"plainToken":"p"}}'],
    ['discord', '{"type":0}'],
  ])('does not answer %s unless it has been verified', (id, body) => {
    expect(answer(id, post(body), 'secret', true)).toBeDefined();
    expect(answer(id, post(body), 'secret', false)).toBeUndefined();
  });

  it.each([
    ['slack', '{"type":"event_callback"}'],
    ['slack', '{"type":"url_verification","challenge":"<script>"}'],
    ['slack', '{"type":"url_verification"}'],
    ['slack', 'null'],
    ['slack', '['],
    ['slack', `{"type":"url_verification","challenge":"c","pad":"${'x'.repeat(4096)}"}`],
    ['zoom', '{"event":"endpoint.url_validation"}'],
    ['zoom', '{"event":"endpoint.url_validation","payload":{"plainToken":{}}}'],
    ['github', '{"zen":"ping"}'],
  ])('treats %s %s as a delivery', (id, body) => {
    expect(answer(id, post(body))).toBeUndefined();
  });

  it.each([
    ['dropbox', '?challenge=a&challenge=b'],
    ['dropbox', '?challenge=%3Cscript%3E'],
    ['dropbox', '?challenge=a%0d%0ab'],
    ['dropbox', `?challenge=${'a'.repeat(513)}`],
    ['dropbox', ''],
    ['slack', '?challenge=a'],
  ])('does not answer %s asking %s by GET', (id, query) => {
    expect(answer(id, get(query))).toBeUndefined();
  });

  it('does not answer a GET handshake that comes by POST', () => {
    expect(answer('dropbox', { ...get('?challenge=a'), method: 'POST' })).toBeUndefined();
  });
});

describe('isSignedForAnyone', () => {
  // Every handshake that answers with a signature, and how it can be made to sign a text.
  const signing: Record<string, (challenge: string) => string | undefined> = {
    x: challenge =>
      answer('x', get(`?${new URLSearchParams({ crc_token: challenge })}`), 'secret', false)?.body,
    zoom: challenge => {
      const body = JSON.stringify({ event: 'endpoint.url_validation', payload: { plainToken: challenge } });
      return answer('zoom', post(body))?.body;
    },
  };
  const token = fc.stringMatching(/^[0-9A-Za-z+/=._~:{}"[\] -]{1,40}$/);
  const challenges = fc.oneof(token, fc.json(), fc.nat().map(String), fc.constantFrom('true', 'abc'));

  it.each(Object.entries(signing))('is true of whatever the handshake of %s signs', (id, sign) => {
    let signed = 0;
    fc.assert(
      fc.property(challenges, challenge => {
        const answered = sign(challenge);
        signed += answered === undefined ? 0 : 1;
        expect(isSignedForAnyone(getScheme(id), [challenge])).toBe(answered !== undefined);
      }),
      { numRuns: 1000 },
    );
    expect(signed).toBeGreaterThan(50);
  });

  it('is true of no body that is JSON, and of no scheme whose handshake signs nothing', () => {
    fc.assert(fc.property(fc.json(), body => !isSignedForAnyone(getScheme('x'), [Buffer.from(body)])));
    const silent = schemes.filter(({ id }) => !(id in signing));
    expect(silent.filter(scheme => isSignedForAnyone(scheme, ['challenge']))).toEqual([]);
  });

  it('is true of no content of Zoom, whose deliveries have a prefix', () => {
    fc.assert(fc.property(token, body => !isSignedForAnyone(getScheme('zoom'), ['v0:1700000000:', body])));
  });
});

describe('getHandshakeMethod', () => {
  it('tells which providers ask by GET or HEAD', () => {
    const by = (method: string) =>
      schemes.filter(scheme => getHandshakeMethod(scheme) === method).map(({ id }) => id);
    expect(by('GET')).toEqual(['dropbox', 'meta', 'x', 'okta']);
    expect(by('HEAD')).toEqual(['trello', 'mandrill']);
  });
});

function answer(id: string, request: ReturnType<typeof received>, secret = 'secret', verified = true) {
  return answerHandshake(getScheme(id), request, secret, verified);
}

function post(body: string) {
  return received({}, body);
}

function get(query: string) {
  return received({}, '', { method: 'GET', url: url + query });
}
