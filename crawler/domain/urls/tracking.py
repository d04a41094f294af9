"""Query parameters that name a visitor or a campaign, never a page."""

_CLICKS = """
gclid gclsrc dclid wbraid gbraid gad_source gad_campaignid srsltid fbclid msclkid yclid ysclid twclid ttclid igshid
igsh li_fat_id rdt_cid epik irclickid irgwc zanpid wickedid rb_clickid sscid awc s_kwcid ef_id _branch_match_id
"""
_CAMPAIGNS = """
mc_cid mc_eid mkt_tok _hsenc _hsmi __hstc __hssc __hsfp hsctatracking vero_id vero_conv oly_anon_id oly_enc_id
_ga _gl _gac _openstat s_cid cmpid
"""
_SESSIONS = "phpsessid jsessionid sid sessid sessionid session_id cfid cftoken zenid oscsid aspxautodetectcookiesupport"

_NAMES = frozenset((_CLICKS + _CAMPAIGNS + _SESSIONS).split())
_PREFIXES = ("utm_", "pk_", "mtm_", "piwik_", "matomo_", "hsa_", "aspsessionid")


def is_tracking(name: str) -> bool:
    """Whether this name (in lower case) is known not to change the page."""
    return name in _NAMES or name.startswith(_PREFIXES)
