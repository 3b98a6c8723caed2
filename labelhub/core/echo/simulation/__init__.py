"""The fixed simulator of ``echo.md``: what Echo reaches, against arms that leave a part out."""
