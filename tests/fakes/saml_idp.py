"""A company's sign-in by SAML: its certificate, and signed answers to a request."""

import base64
import datetime as dt
import re
import zlib
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from onelogin.saml2.utils import OneLogin_Saml2_Utils

ENTITY = "https://idp.example/saml"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"


def new_identity() -> tuple[str, str]:
    """A key and its certificate, as PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "idp.example")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    return private.decode(), certificate.public_bytes(serialization.Encoding.PEM).decode()


KEY, CERTIFICATE = new_identity()


@dataclass
class Idp:
    """The provider and the person it answers for."""

    subject: str = "ada-1"
    format: str = PERSISTENT
    attributes: dict[str, list[str]] = field(default_factory=dict)
    key: str = KEY
    certificate: str = CERTIFICATE

    def settings(self) -> dict[str, Any]:
        """What LabelHub is told."""
        return {
            "entity_id": ENTITY,
            "name": "Example Ltd",
            "metadata_url": "",
            "sso_url": "https://idp.example/sso",
            "x509cert": CERTIFICATE,
            "uid": "",
        }

    def answer(self, address: str, **changes: str) -> str:
        """The signed answer, for the form, to the request that ``address`` carries."""
        sent = base64.b64decode(parse_qs(urlsplit(address).query)["SAMLRequest"][0])
        request = zlib.decompress(sent, -15).decode()
        return self.build(
            in_response_to=re.findall(r'\bID="([^"]+)"', request)[0],
            recipient=re.findall(r'AssertionConsumerServiceURL="([^"]+)"', request)[0],
            audience=re.findall(r"Issuer>([^<]+)<", request)[0],
            **changes,
        )

    def build(
        self, *, in_response_to: str, recipient: str, audience: str, minutes: str = "5"
    ) -> str:
        """A signed answer; ``minutes`` until it expires."""
        now = dt.datetime.now(dt.UTC)
        stamp = "%Y-%m-%dT%H:%M:%SZ"
        before, after = (
            (now + dt.timedelta(minutes=m)).strftime(stamp) for m in (-30, float(minutes))
        )
        attributes = "".join(
            f'<saml:Attribute Name="{name}">'
            + "".join(f"<saml:AttributeValue>{escape(v)}</saml:AttributeValue>" for v in values)
            + "</saml:Attribute>"
            for name, values in self.attributes.items()
        )
        statement = (
            f"<saml:AttributeStatement>{attributes}</saml:AttributeStatement>" if attributes else ""
        )
        assertion = f"""<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"
 ID="_a1" Version="2.0" IssueInstant="{now.strftime(stamp)}"><saml:Issuer>{ENTITY}</saml:Issuer>
<saml:Subject><saml:NameID Format="{self.format}">{escape(self.subject)}</saml:NameID>
<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">
<saml:SubjectConfirmationData NotOnOrAfter="{after}" Recipient="{recipient}"
 InResponseTo="{in_response_to}"/></saml:SubjectConfirmation></saml:Subject>
<saml:Conditions NotBefore="{before}" NotOnOrAfter="{after}"><saml:AudienceRestriction>
<saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>
<saml:AuthnStatement AuthnInstant="{before}" SessionIndex="_s1"><saml:AuthnContext>
<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef>
</saml:AuthnContext></saml:AuthnStatement>{statement}</saml:Assertion>"""
        signed = OneLogin_Saml2_Utils.add_sign(
            assertion, self.key, self.certificate,
            sign_algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
            digest_algorithm="http://www.w3.org/2001/04/xmlenc#sha256",
        )  # fmt: skip
        text = signed.decode() if isinstance(signed, bytes) else signed
        response = f"""<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r1"
 Version="2.0" IssueInstant="{now.strftime(stamp)}" Destination="{recipient}"
 InResponseTo="{in_response_to}"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"
>{ENTITY}</saml:Issuer><samlp:Status><samlp:StatusCode
 Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>{text}</samlp:Response>"""
        return base64.b64encode(response.encode()).decode()
