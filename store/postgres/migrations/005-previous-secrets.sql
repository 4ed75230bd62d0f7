-- 'previous' if the value of the secret before the current one verified the delivery; null: the current one, or none.
ALTER TABLE hookmill.deliveries ADD COLUMN verified_with text;

-- Records a batch in which previous values of secrets verified these deliveries: what record_flows does, and that.
CREATE FUNCTION hookmill.record_previous(
  previous_ids text[],
  ids text[], factories text[], webhooks text[], uids text[], at_mss bigint[], sizes integer[], outcomes text[],
  identities text[], identity_sources text[], content_digests text[],
  body_identities text[], authenticated_bys text[], reasons text[],
  snapshot_keys bigint[], headers_jsons text[], forms text[], payload_starts integer[], payload_lengths integer[], payloads bytea,
  run_ids text[], run_delivery_ids text[], run_automations text[], known_keys bigint[], known_digests text[],
  flow_ids text[], flow_delivery_ids text[], flow_automations text[], flows text[],
  burst_bounds integer[]
) RETURNS TABLE (duplicate text, original text) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM hookmill.record_flows(ids, factories, webhooks, uids, at_mss, sizes, outcomes, identities,
    identity_sources, content_digests, body_identities, authenticated_bys, reasons, snapshot_keys, headers_jsons, forms,
    payload_starts, payload_lengths, payloads, run_ids, run_delivery_ids, run_automations, known_keys, known_digests,
    flow_ids, flow_delivery_ids, flow_automations, flows, burst_bounds);
  UPDATE hookmill.deliveries SET verified_with = 'previous'
  FROM unnest(ids, at_mss) AS d (id, at_ms)
  WHERE d.id = ANY (previous_ids) AND deliveries.id = d.id AND deliveries.day = hookmill.day_of(d.at_ms);
END $$;
